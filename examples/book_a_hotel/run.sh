# A graph that asks for the four usual reasons: something is unclear, is missing, is a matter of taste, or costs money.
#
#   sh examples/book_a_hotel/run.sh
#
# Answer in the terminal. The graph is in graph.py.
. "$(dirname "$0")/../gateway.sh"
gateway
answerback run hotel --input '{"city": "Vienna"}' --wait
