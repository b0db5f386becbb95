# A provider of one's own: a shared folder as a messenger, where people answer by writing a file.
#
#   sh examples/folder/run.sh
#
# Ana is asked in var/examples/folder/ana; the question says how to answer. The provider is folder.py.
. "$(dirname "$0")/../gateway.sh"
mkdir -p "$made/ana"
gateway
echo "Look into var/examples/folder/ana"
answerback ask "Where shall we eat?" --choice Here --choice "Over there" --to ana --expires 10m --wait --no-answer
