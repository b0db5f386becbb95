"""The copilot's settings: an agent's `options` in the configuration."""

import shlex
from typing import Self

import pydantic


class Settings(pydantic.BaseModel):
    """What stands under `options`; every value may come as a text."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    model: str
    """`provider:model`."""
    command: str | list[str] = ""
    """What starts the MCP server, which speaks on its stdin and stdout; or `url`."""
    env: dict[str, str] = {}
    """What its environment has beside PATH, HOME and the like."""
    url: str = ""
    """Where the MCP server is (Streamable HTTP)."""
    hitl_enabled: bool = True
    """Whether it asks people, and has them confirm what changes something."""
    unasked: list[str] = []
    """Tools that change something and run without being confirmed."""

    @pydantic.model_validator(mode="after")
    def _one_server(self) -> Self:
        if bool(self.words) == bool(self.url):
            raise ValueError("name the MCP server, either by its command or by its url")
        return self

    @property
    def words(self) -> list[str]:
        """The command, word by word."""
        return shlex.split(self.command) if isinstance(self.command, str) else self.command
