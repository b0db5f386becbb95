#!/bin/sh
# Measures the gateway beside bare LangGraph, itself and the least that could be done; prints a table, writes var/bench.json.
#
#   scripts/bench.sh [--only GROUP,…] [--quick] [--rounds N]    exit code 1: a target was missed
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh dev
exec .venv/bin/python -m tests.bench "$@"
