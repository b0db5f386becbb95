# Escalation: one person is asked and reminded, then the next one. No ends it, silence does not.
#
#   sh examples/on_call/run.sh        each of them has 30 seconds; another time: sh examples/on_call/run.sh 10m
#
# Open the address that it prints: Ana's and Ben's phones, with Telegram, in the browser. The program is on_call.py.
. "$(dirname "$0")/../gateway.sh"
begin sandbox answerback sandbox --listen 127.0.0.1:0 --smtp-port 0 --imap-port 0 --person Ben
SANDBOX=$(sed -n 's|^phone *\(.*\)/$|\1|p' "$made/sandbox.out")
export SANDBOX
gateway
echo "The phones: $SANDBOX"
python on_call.py "${1:-30s}"
