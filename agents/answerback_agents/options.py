"""An agent's `options` from the configuration as checked settings, for the agents that come along."""

from collections.abc import Mapping
from typing import Any, TypeVar

import pydantic

from answerback.errors import ConfigurationError

Settings = TypeVar("Settings", bound=pydantic.BaseModel)


def checked(model: type[Settings], options: Mapping[str, Any]) -> Settings:
    """`options` as `model`. Raises ConfigurationError, without any value, for the first fault."""
    try:
        return model.model_validate(dict(options))
    except pydantic.ValidationError as error:
        [first, *_] = error.errors(include_url=False, include_input=False)
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = ", ".join(model.model_fields)
        raise ConfigurationError(f"options: there is no {where}; there are {known}")
    raise ConfigurationError(f"options.{where}: {first['msg']}" if where else f"options: {first['msg']}")
