#!/bin/sh
# Runs every static check, all of them even when one fails, and says at the end which did.
set -u
cd "$(dirname "$0")/.."
sh scripts/setup.sh dev || exit

failed=
check() {
    name=$1
    shift
    printf -- '-- %s\n' "$name"
    "$@" || failed="$failed, $name"
}
bin=.venv/bin
# Only a broken contract is worth its whole report.
quiet() {
    report=$("$@" 2>&1) || { printf '%s\n' "$report"; return 1; }
    printf '%s\n' "$report" | grep '^Contracts:'
}
check "ruff check" $bin/ruff check --quiet --output-format concise .
check "ruff format" $bin/ruff format --quiet --check --output-format concise .
# What mypy keeps for the next time takes it a fifth longer, and in CI there is none.
check "mypy" $bin/mypy ${CI:+--cache-dir=/dev/null}
check "import-linter" quiet $bin/lint-imports --no-cache
if [ -n "$failed" ]; then
    printf 'Failed: %s\n' "${failed#, }" >&2
    exit 1
fi
