# A shell script that deploys on yes only, and tells no from silence.
#
#   sh examples/shell_script/run.sh
#
# Answer in the terminal. With contacts and a messenger in the configuration it would also be on their phones.
. "$(dirname "$0")/../gateway.sh"
gateway

code=0
answerback ask "Deploy version 2.4?" --context "All tests passed." --confirm --expires 10m || code=$?
case $code in
0) echo "Deploying version 2.4." ;;
5) echo "Somebody said no: version 2.3 stays." ;;
3) echo "Nobody answered: version 2.3 stays, ask again tomorrow." ;;
*) echo "Not asked, or withdrawn: version 2.3 stays." ;;
esac
exit $code
