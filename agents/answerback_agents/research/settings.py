"""The research agent's settings: an agent's `options` in the configuration."""

import pydantic


class Settings(pydantic.BaseModel):
    """What stands under `options`."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    documents: str = ""
    """The folder whose texts are searched. Without one it searches the documents that come along."""
