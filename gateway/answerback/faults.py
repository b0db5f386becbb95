"""Named fault points: where a test may kill, raise or hang. In production they do nothing."""

POINTS = {
    "ask.before-commit": "the question is composed, nothing is stored",
    "ask.after-commit": "interaction and deliveries are stored, nothing is sent",
    "deliver.before-send": "the delivery is claimed, nothing was sent",
    "deliver.after-send": "the service took the message, that is not stored yet",
    "deliver.after-commit": "the message ids are stored",
    "receive.before-commit": "an event came in, nothing is stored",
    "receive.after-commit": "reply, answer and all that follows are stored, nothing was acknowledged",
    "elapse.after-commit": "a deadline's outcome is stored, nobody knows yet",
    "resume.before-agent": "the answer is stored and the lease is ours, the agent knows nothing",
    "resume.after-agent": "the agent has consumed the answer, that is not stored yet",
    "resume.after-commit": "the agent's next state is stored",
    "run.before-agent": "the run is stored, the agent was not started",
    "run.after-agent": "the agent paused or ended, that is not stored yet",
    "run.after-commit": "the agent's first state is stored",
    "stop.before-agent": "the run is cancelled, its agent does not know",
    "stop.after-agent": "the agent has heard that its run is cancelled, that is not stored yet",
    "erase.begun": "it is stored that somebody is to be erased, nothing is erased",
    "erase.after-batch": "a stretch of what is kept of somebody is erased, and how far that is, is stored",
}


class Faults:
    """The default: passing a point changes nothing."""

    def reach(self, point: str) -> None:
        """Called at each named point."""
        assert point in POINTS, point
