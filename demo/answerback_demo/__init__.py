"""The demo: the whole loop on this machine, with a phone in the browser and no account. `answerback demo`.

It may import everything, and nothing imports it. This module imports nothing heavy, so that Ctrl-C works from
the start.
"""

from answerback_demo.command import main

__all__ = ["main"]
