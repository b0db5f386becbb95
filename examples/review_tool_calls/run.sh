# A LangChain agent whose calls a person reviews before they run: approve, reject with a reason, or change on the form.
#
#   sh examples/review_tool_calls/run.sh
#
# Answer in the terminal. The agent is in agent.py; what only reads is not asked about.
. "$(dirname "$0")/../gateway.sh"
gateway
answerback run support --input '{"messages": "Ana was charged twice."}' --wait
