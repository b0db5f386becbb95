"""`python -m answerback_demo`: the same as `answerback demo`."""

import sys

from answerback_demo.command import main

sys.exit(main(sys.argv[1:]))
