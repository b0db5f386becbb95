# A graph with several questions open at once: each node asks its own, and each answer reaches the one it was given for.
#
#   sh examples/parallel_questions/run.sh
#
# Answer in the terminal, one after the other. On a phone or in the inbox they can be answered in any order.
. "$(dirname "$0")/../gateway.sh"
gateway
answerback run bookkeeper --input '{"invoices": ["Train to Graz", "Printer", "Dinner for six"]}' --wait
