#!/bin/sh
# Prints the conformance table: every hazard of answer binding, on answerback and on its peers.
#
#   scripts/conformance.sh [--only NAME] [--json FILE]
#
# Peers come from the package index into environments of their own under var/peers, in the versions that the
# drivers were written for. Two of them need Python 3.12: PEER_PYTHON names one that is not found by itself.
# A peer that cannot be installed is "not run" in the table.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh dev

python=
for found in "${PEER_PYTHON:-}" python3.13 python3.12 .venv/bin/python; do
    if [ -n "$found" ] && "$found" -c '' 2>/dev/null; then
        python=$found
        break
    fi
done
peer() {
    name=$1
    shift
    if [ -x "var/peers/$name/ready" ]; then return; fi
    echo "Installing $name into var/peers/$name."
    rm -rf "var/peers/$name"
    if "$python" -m venv "var/peers/$name" && "var/peers/$name/bin/pip" install --quiet "$@"; then
        ln -s bin/python "var/peers/$name/ready"
    else
        echo "$name cannot be installed with $python: it will not be run." >&2
        rm -rf "var/peers/$name"
    fi
}
mkdir -p var/peers
saver="langgraph-checkpoint-sqlite>=3.1"
peer awaithumans "awaithumans[langgraph,server]==0.1.12" "$saver"
peer agent-wait "agent-wait[langgraph]==0.8.0" "$saver"
peer langgraph-external-hitl "langgraph-external-hitl[all]==0.6.0"

exec .venv/bin/python -m tests.conformance "$@"
