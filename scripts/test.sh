#!/bin/sh
# Runs every test: those of the bare core where no extra is installed, the others with every extra.
#
#   scripts/test.sh [PYTEST ARGUMENTS]    arguments go to a run with every extra, and then it is the only one
set -eu
cd "$(dirname "$0")/.."

sh scripts/setup.sh dev
# Whoever lacks these is told, and the tests that need them say so again: skipped here, failed in CI.
sh scripts/debian.sh chromium-headless-shell || sh scripts/debian.sh chromium || :
sh scripts/debian.sh strace dovecot-imapd dovecot-lmtpd pgbouncer || :

# Hundreds of tests start programs of ours: each would compile all of it anew.
unset PYTHONDONTWRITEBYTECODE

if [ $# -gt 0 ]; then
    sh scripts/langgraph-server.sh || :
    exec .venv/bin/python -m pytest "$@"
fi

# Many tests wait for another process, so there are two workers a processor (three took longer where it was slow),
# and one more with the extras: the first of them does little but wait for a LangGraph server (tests/conftest.py).
# What is left of one's share is done by whoever is free. A worker that dies takes one test with it; more than two
# deaths are no accident.
many=$((2 * $(getconf _NPROCESSORS_ONLN)))
workers="-q --dist worksteal --max-worker-restart 2 --one-database"
# Where memory has room for them, the tests' files stand there: on a disk every commit of SQLite waits for it.
memory=$(.venv/bin/python tests/support/memory.py)
files=
if [ -n "$memory" ]; then
    files=$(mktemp -d "$memory/answerback-tests-XXXXXX")
    chmod 711 "$files"  # under root, servers run as other users
    export TMPDIR="$files"
    trap 'rm -rf "$files"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    workers="$workers -o tmp_path_retention_policy=failed"
fi
bare=0
full=0
# Each worker would compile what is new in a checkout, all of them the same at the same time. What is wrong with a
# test file shows below.
(.venv/bin/python -m compileall -q gateway providers agents demo; .venv/bin/python -m pytest -q --collect-only) \
    >/dev/null 2>&1 &
sh scripts/langgraph-server.sh &
sh scripts/setup.sh bare
wait
echo "The bare core, without extras:"
passed=var/setup/passed  # always given with a "=": pytest would take a file that it finds for a test
rm -f "$passed" && : >"$passed.before"
var/setup/bare/bin/python -m pytest --bare-core -n "$many" $workers ${files:+"--basetemp=$files/bare"} "--passed-to=$passed" || bare=$?
# What passed needs no second time, except the sandbox's: beside the real clients it is held to more.
if [ -e "$passed" ]; then grep -v '^tests/providers/sandbox/' "$passed" >"$passed.before" || :; fi
echo "Everything else:"
.venv/bin/python -m pytest -n "$((many + 1))" $workers ${files:+"--basetemp=$files/full"} "--passed-before=$passed.before" || full=$?
if [ "$bare" != 0 ]; then echo "The bare core failed (pytest's exit code $bare); its output is further up." >&2; fi
[ "$bare" = 0 ] && [ "$full" = 0 ]
