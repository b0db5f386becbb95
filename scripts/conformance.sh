#!/bin/sh
# Prints the conformance table: every hazard of answer binding, on answerback and on its peers.
#
#   scripts/conformance.sh [--only NAME] [--hazard WORDS] [--json FILE] [--docs]
#
# Peers are installed by scripts/peers.sh. One that cannot be installed is "not run" in the table.
# --docs writes the table into docs/why.md too.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh dev
. scripts/peers.sh
peer_awaithumans
peer_agent_wait
peer_external_hitl
exec .venv/bin/python -m tests.conformance "$@"
