"""A fault point that kills the process which reaches it."""

import os
import signal

from answerback.faults import Faults


class Deadly(Faults):
    """Kills this process at the nth passing of a point, counted while it is armed."""

    def __init__(self, point: str, nth: int = 1, *, armed: bool = True) -> None:
        self.point, self.left, self.armed = point, nth, armed

    def reach(self, point: str) -> None:
        """Raises what `Faults` does; does not return where it kills."""
        super().reach(point)
        if self.armed and point == self.point:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
