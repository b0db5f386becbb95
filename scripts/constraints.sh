#!/bin/sh
# Writes constraints.txt anew: the newest version of everything that pyproject.toml admits, extras and tools included.
set -eu
cd "$(dirname "$0")/.."

venv=var/setup/constraints
echo "Resolving every dependency afresh (about a minute)…" >&2
rm -rf "$venv"
mkdir -p var/setup
"${PYTHON:-python3}" -m venv "$venv"
pip() {
    "$venv/bin/python" -m pip "$@" --disable-pip-version-check --no-color >"$venv/pip.log" 2>&1 || { cat "$venv/pip.log" >&2; exit 1; }
}
pip install --upgrade pip hatchling editables setuptools
pip install --no-build-isolation -e '.[all,dev]'
"$venv/bin/python" -m pip freeze --all --exclude-editable --exclude answerback --exclude wheel | grep -E '^[A-Za-z0-9._-]+==[^ ]+$' >"$venv/new"
mv "$venv/new" constraints.txt
rm -rf "$venv"
echo "constraints.txt: $(wc -l <constraints.txt) versions" >&2
