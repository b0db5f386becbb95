"""`python -m answerback.cli` is `answerback`."""

from answerback.cli import main

main()
