# To be sourced at the repository's root: `peer NAME REQUIREMENT…` makes var/peers/NAME, an environment of its own.
# shellcheck shell=sh
#
# Peers come from the package index in the versions that their drivers were written for; none is ever in
# constraints.txt. Two of them need Python 3.12: PEER_PYTHON names one that is not found by itself. A peer that
# cannot be installed is left out, and what wanted it says so.

peer_python=
for found in "${PEER_PYTHON:-}" python3.13 python3.12 .venv/bin/python; do
    if [ -n "$found" ] && "$found" -c '' 2>/dev/null; then
        peer_python=$found
        break
    fi
done

peer() {
    name=$1
    shift
    if [ -x "var/peers/$name/ready" ]; then return; fi
    echo "Installing $name into var/peers/$name."
    rm -rf "var/peers/$name"
    if "$peer_python" -m venv "var/peers/$name" && "var/peers/$name/bin/pip" install --quiet "$@"; then
        ln -s bin/python "var/peers/$name/ready"
    else
        echo "$name cannot be installed with $peer_python: it will not be run." >&2
        rm -rf "var/peers/$name"
    fi
}

mkdir -p var/peers
peer_saver="langgraph-checkpoint-sqlite>=3.1"
peer_awaithumans() { peer awaithumans "awaithumans[langgraph,server]==0.1.12" "$peer_saver"; }
peer_agent_wait() { peer agent-wait "agent-wait[langgraph]==0.8.0" "$peer_saver"; }
peer_external_hitl() { peer langgraph-external-hitl "langgraph-external-hitl[all]==0.6.0"; }
