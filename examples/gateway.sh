# What every run.sh begins with: a gateway with the configuration beside it, which ends with the example.
# Its data and its log are in var/examples; a terminal of yours would only need `answerback serve`.
set -eu
cd "$(dirname "$0")"
made=../../var/examples/$(basename "$PWD")
PATH=$PWD/../../.venv/bin:$PATH
export ANSWERBACK_CONFIG="$PWD/answerback.yaml"
mkdir -p "$made"

running=
trap 'kill $running 2>/dev/null; wait' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# begin NAME COMMAND…: starts it, and waits until it has printed what it prints once it is ready.
begin() {
    name=$1
    shift
    rm -f "$made/$name.out"
    "$@" >"$made/$name.out" 2>"$made/$name.log" &
    running="$running $!"
    until [ -s "$made/$name.out" ]; do
        kill -0 $! 2>/dev/null || { cat "$made/$name.log" >&2; exit 1; }
        sleep 0.1
    done
}

gateway() {
    begin gateway answerback serve --listen 127.0.0.1:0
    ANSWERBACK_URL=$(sed -n 's/^Ready at \([^ ]*\).*/\1/p' "$made/gateway.out")
    ANSWERBACK_KEY=$(cat "$made/api-key")
    export ANSWERBACK_URL ANSWERBACK_KEY
}
