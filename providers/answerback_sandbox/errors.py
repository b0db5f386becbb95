"""What a person in the sandbox cannot do."""


class SandboxError(ValueError):
    """No such person, message or button, or the bot is blocked."""
