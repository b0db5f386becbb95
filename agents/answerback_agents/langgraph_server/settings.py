"""What the configuration says of an agent with `use: langgraph-server`."""

from urllib.parse import urlsplit

import pydantic


class Settings(pydantic.BaseModel):
    """One assistant on one server."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: str
    """Where the server is: http or https."""
    assistant: str
    """The name of a graph, as in the server's langgraph.json, or the id of an assistant."""
    api_key: pydantic.SecretStr | None = None
    """Sent as `x-api-key`."""
    authorization: pydantic.SecretStr | None = None
    """Sent as the header `Authorization`, for servers with their own authentication."""
    adopt: bool = False
    """Whether people are asked what threads wait for that somebody else started."""
    metadata: dict[str, str] = {}
    """Threads must have these to be adopted; those that we start get them."""
    poll_seconds: float = pydantic.Field(default=10.0, gt=0)
    """Seconds between two looks at what others did on the server."""
    timeout: float = pydantic.Field(default=30.0, gt=0)
    """Seconds for one call. A run may take as long as it likes."""
    dialect: str = ""
    """`package:function` that is asked first how to read a payload."""

    @pydantic.field_validator("url")
    @classmethod
    def _is_http(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the address of a LangGraph server, such as http://127.0.0.1:2024.")
        if parts.username or parts.password:
            raise ValueError("credentials belong into api_key or authorization.")
        return url.rstrip("/")
