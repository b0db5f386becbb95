"""The providers that come with answerback: each imports `answerback.provider` only."""
