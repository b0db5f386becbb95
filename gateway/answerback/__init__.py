"""answerback: an agent asks, a person answers, and only that question gets that answer."""

__version__ = "0.1.0"
