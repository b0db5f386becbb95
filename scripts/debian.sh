#!/bin/sh
# Installs Debian packages where that is possible without asking, and says in one sentence where it is not.
#
#   scripts/debian.sh PACKAGE...    exit code 0: all are installed; 1: at least one is not, and why was said
set -eu

say() { printf '%s\n' "$*" >&2; }

missing=
for package in "$@"; do
    # A program of that name counts, whoever installed it.
    command -v "$package" >/dev/null 2>&1 && continue
    [ "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" = "install ok installed" ] && continue
    missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
    say "Not installed, and this is not Debian:$missing. Please install it by hand."
    exit 1
elif [ "$(id -u)" = 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    say "Not installed:$missing. To install it: sudo apt-get install$missing"
    exit 1
fi

say "Installing from Debian, once:$missing…"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@" >>"$log" 2>&1 </dev/null; }
# shellcheck disable=SC2086  # a list of package names
if { apt update || :; } && apt install --no-install-recommends $missing; then exit 0; fi
tail -n 5 "$log" >&2
say "Could not install$missing (apt-get's last lines are above)."
exit 1
