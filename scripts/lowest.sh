#!/bin/sh
# Runs every test with the lowest version that pyproject.toml admits of each library that we name, in an environment of
# its own. What these need themselves, and the tools, are the newest that fit. Run `make test` before: it installs what
# tests need beside Python, and where that is missing they are skipped.
#
#   scripts/lowest.sh [PYTEST ARGUMENTS]
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh dev

venv=var/setup/lowest
lowest=$venv/lowest.txt
if [ ! -f "$lowest" ] || [ pyproject.toml -nt "$lowest" ]; then
    echo "Setting up an environment with the lowest versions (about two minutes)…" >&2
    rm -rf "$venv"
    .venv/bin/python -m venv "$venv"
    .venv/bin/python scripts/lowest.py >"$venv/asked.txt"
    pip() {
        "$venv/bin/python" -m pip install --disable-pip-version-check --no-color "$@" >"$venv/pip.log" 2>&1 || { cat "$venv/pip.log" >&2; exit 1; }
    }
    pip hatchling editables setuptools
    pip --no-build-isolation -c "$venv/asked.txt" -e '.[all,dev]'
    mv "$venv/asked.txt" "$lowest"
fi
# The rest as in scripts/test.sh. That what is installed is pinned is true of the other environment.
unset PYTHONDONTWRITEBYTECODE
exec "$venv/bin/python" -m pytest -q -n $((2 * $(getconf _NPROCESSORS_ONLN))) --dist worksteal -p no:cacheprovider \
    --deselect tests/unit/test_packaging.py::test_every_package_that_can_be_installed_is_pinned_to_a_version_that_we_accept "$@"
