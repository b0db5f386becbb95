"""The command line. Everything but `serve`, `check` and `db` goes through the HTTP API.

Exit codes: 0 answered or fine (a confirmation: yes) · 2 usage · 3 expired · 4 cancelled · 5 answered no ·
130 interrupted · 1 anything else.
Importing this imports click and the standard library only; each command imports what it needs when it runs.
"""

from answerback.cli.root import main, root

__all__ = ["main", "root"]
