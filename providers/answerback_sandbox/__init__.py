"""The far side on loopback: a Telegram Bot API and a phone in the browser, for the demo and for tests.

`async with Sandbox.start() as box:` serves both on a free port of 127.0.0.1; `python -m answerback_sandbox`
serves them alone. It imports nothing of the gateway, and listens nowhere but on loopback.
"""

from answerback_sandbox.errors import SandboxError
from answerback_sandbox.faults import FaultKind, ServiceName
from answerback_sandbox.loopback import NotLoopback
from answerback_sandbox.sandbox import Sandbox
from answerback_sandbox.telegram.state import Button, Callback, Chat, ChatKind, Message, Person

__all__ = [
    "Button",
    "Callback",
    "Chat",
    "ChatKind",
    "FaultKind",
    "Message",
    "NotLoopback",
    "Person",
    "Sandbox",
    "SandboxError",
    "ServiceName",
]
