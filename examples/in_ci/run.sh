# An agent in a test run, where nobody can be asked: predefined answers stand in for people, and confirm nothing.
#
#   sh examples/in_ci/run.sh
#
# The same graph as in book_a_hotel. It ends without a booking: see answerback.yaml for the one word that would change it.
. "$(dirname "$0")/../gateway.sh"
gateway
answerback run hotel --input '{"city": "Vienna"}' --wait --no-answer
