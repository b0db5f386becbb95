#!/bin/sh
# Measures the gateway beside bare LangGraph, its peers, itself and the least that could be done; prints a table,
# writes var/bench.json.
#
#   scripts/bench.sh [--only GROUP,…] [--quick] [--rounds N]    exit code 1: a target was missed
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh dev
case " $* " in
*" --only"*) wanted=" $* " ;;
*) wanted=peers ;;
esac
case $wanted in
*peers*)
    . scripts/peers.sh
    peer_awaithumans
    peer_external_hitl
    ;;
esac
exec .venv/bin/python -m tests.bench "$@"
