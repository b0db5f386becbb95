# An agent without a framework, which may end at any time: its state waits with the question and comes with the answer.
#
#   sh examples/no_checkpointer/run.sh
#
# Open the links that it prints. The agent is app.py; notify.py is a function of one's own that tells people.
. "$(dirname "$0")/../gateway.sh"
gateway
tail -n +2 -f "$made/gateway.out" & # what notify.py prints
running="$running $!"
SIGNING_SECRET=$(answerback signing-secret) python app.py "the summer sale"
