#!/bin/sh
# Installs a LangGraph server for development into an environment of its own, var/langgraph-server.
#
#   scripts/langgraph-server.sh
#
# Only the tests of the adapter `langgraph-server` use it, and they say so when it is not there. The server,
# langgraph-api, is under the Elastic License 2.0: nothing of ours depends on it.
set -eu
cd "$(dirname "$0")/.."

place=var/langgraph-server
wanted="langgraph-cli[inmem]==0.4.40 langgraph-api==0.16.7 langgraph==1.2.24"
if [ "$(cat "$place/ready" 2>/dev/null)" = "$wanted" ]; then exit 0; fi
echo "Installing a LangGraph server into $place."
rm -rf "$place"
mkdir -p var
# That of the tests, which scripts/setup.sh has chosen, if they are set up.
python=.venv/bin/python
[ -x "$python" ] || python=${PYTHON:-python3}
"$python" -m venv "$place"
# The environment's own pip may be an old one, which takes twice as long.
pip=$(sed -n '/^pip==/p' constraints.txt)
"$place/bin/python" -m pip install --quiet --disable-pip-version-check "$pip" || :
# shellcheck disable=SC2086 - a requirement a word
"$place/bin/python" -m pip install --quiet --disable-pip-version-check $wanted
printf '%s\n' "$wanted" >"$place/ready"
