#!/bin/sh
# Removes each safeguard in turn from a copy of the source; a named test must fail each time.
#
#   scripts/mutants.sh [WORD …]    only the safeguards whose name has one of the words
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh dev
exec .venv/bin/python -m tests.conformance.mutants "$@"
