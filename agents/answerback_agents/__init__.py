"""The agent adapters and the agents that come with answerback."""
