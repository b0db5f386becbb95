#!/bin/sh
# Runs every test twice over: all of them with every extra, and those of the bare core with none.
#
#   scripts/test.sh [PYTEST ARGUMENTS]    arguments go to the first run, and then the second is left out
set -eu
cd "$(dirname "$0")/.."

sh scripts/setup.sh dev
# Whoever lacks these is told, and the tests that need them say so again: skipped here, failed in CI.
sh scripts/debian.sh chromium strace dovecot-imapd dovecot-lmtpd || :
sh scripts/langgraph-server.sh || :

if [ $# -gt 0 ]; then exec .venv/bin/python -m pytest "$@"; fi

# Many tests wait for another process, so there are more workers than processors; what is left of one's share
# is done by whoever is free. A worker that dies takes one test with it; more than two deaths are no accident.
workers="-q -n $(($(getconf _NPROCESSORS_ONLN) + 2)) --dist worksteal --max-worker-restart 2"
bare=0
full=0
sh scripts/setup.sh bare
echo "The bare core, without extras:"
var/setup/bare/bin/python -m pytest --bare-core $workers || bare=$?
echo "Everything:"
.venv/bin/python -m pytest $workers || full=$?
if [ "$bare" != 0 ]; then echo "The bare core failed (pytest's exit code $bare); its output is further up." >&2; fi
[ "$bare" = 0 ] && [ "$full" = 0 ]
