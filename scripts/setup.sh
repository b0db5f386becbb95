#!/bin/sh
# Makes a virtual environment once, from constraints.txt, and leaves it alone until something it was made from changes.
#
#   scripts/setup.sh run    .venv with the gateway and every extra: what `make demo` and a user need
#   scripts/setup.sh dev    the same, and the tools that test and check it
#   scripts/setup.sh bare   a second environment with the built package, no extra, and a test runner
set -eu
cd "$(dirname "$0")/.."

what=${1:-run}
work=var/setup
case $what in
    run | dev) venv=.venv name=venv ;;
    bare) venv=$work/bare name=bare ;;
    *) echo "usage: scripts/setup.sh run|dev|bare" >&2; exit 2 ;;
esac
stamp=$venv/answerback-$what.stamp
log=$work/$name.log

say() { printf '%s\n' "$*" >&2; }
fail() { say "$@"; exit 1; }

# One line that changes whenever the environment has to be made again.
fingerprint() {
    printf '%s %s %s\n' "$(cat pyproject.toml constraints.txt scripts/setup.sh | cksum)" "$PWD" \
        "$("$venv/bin/python" -c 'import sys; print(sys.version.split()[0])' 2>/dev/null || echo none)"
}

is_ready() { [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(fingerprint)" ]; }

# The first Python of 3.11 or newer that the given test passes in.
python_that() {
    for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
        "$candidate" -c "import sys; assert sys.version_info >= (3, 11); $1" >/dev/null 2>&1 || continue
        echo "$candidate"
        return
    done
    return 1
}

python_for_venv() {
    python_that 'import venv, ensurepip' && return
    python_that pass >/dev/null || fail \
        "answerback needs Python 3.11 or newer, and none was found. Install it (on Debian 12: apt-get install python3 python3-venv), or name one: make PYTHON=/path/to/python3"
    sh scripts/debian.sh python3-venv >&2 || :
    python_that 'import venv, ensurepip' || fail \
        "This Python cannot make virtual environments: its venv or ensurepip module is missing. On Debian: apt-get install python3-venv"
}

make_venv() {
    # A moved checkout or another Python leaves paths behind that no longer exist, so such an environment is made anew.
    if [ -f "$stamp" ] && [ "$(cut -d' ' -f3- "$stamp")" != "$(fingerprint | cut -d' ' -f3-)" ]; then rm -rf "$venv"; fi
    "$venv/bin/python" -m pip --version >/dev/null 2>&1 && return
    python=$(python_for_venv)
    rm -rf "$venv"
    "$python" -m venv "$venv" >>"$log" 2>&1 || { cat "$log" >&2; fail "Could not make $venv with $python (its output is above)."; }
}

# Python compiles what it imports when it does so first; pip would compile all there is, which takes longer.
pip_install() {
    "$venv/bin/python" -m pip install --no-compile --quiet --disable-pip-version-check --no-input --no-color -c constraints.txt "$@" \
        >>"$log" 2>&1 </dev/null && return
    cat "$log" >&2
    fail "Installing failed (pip's output is above, and in $log). Nothing outside $venv was changed; run the same command to try again."
}

# The pip that comes with Python 3.11 takes two to three times as long as the pinned one, and does for want of it.
# What builds comes next and is pinned like the rest: in isolation pip would fetch whichever is newest. setuptools is
# for the libraries that come as source only (authres, dkimpy); from Python 3.12 on no environment has it of itself.
install() {
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-input -c constraints.txt pip >>"$log" 2>&1 </dev/null || :
    pip_install hatchling editables setuptools
    case $what in
        run) pip_install --no-build-isolation -e '.[all]' ;;
        dev) pip_install --no-build-isolation -e '.[all,dev]' ;;
        bare) pip_install --no-build-isolation . pytest pytest-asyncio pytest-xdist hypothesis httpx ;;
    esac
}

# The bare core is tested as it is shipped: built into a wheel, not linked to the sources.
refresh_bare() {
    pip_install --no-build-isolation --no-deps --force-reinstall .
}

mkdir -p "$work"
# Two of these at once (a demo beside a test run) would write to one environment.
if command -v flock >/dev/null 2>&1; then
    exec 9>"$work/$name.lock"
    flock 9
fi
: >"$log"
if is_ready; then
    [ "$what" != bare ] || refresh_bare
    exit 0
fi

trap 'say; say "Stopped. Run the same command to go on."; exit 130' INT TERM
case $what in
    run) say "Setting up once (less than a minute)…" ;;
    dev) say "Setting up what the tests and checks need, once (less than a minute)…" ;;
    bare) say "Setting up the bare core, without extras, once…" ;;
esac
started=$(date +%s)
make_venv
install
fingerprint >"$stamp"
# Everything that running needs is part of the developers' environment.
[ "$what" != dev ] || cp "$stamp" "$venv/answerback-run.stamp"
say "Ready after $(($(date +%s) - started)) s."
