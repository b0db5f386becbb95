"""The configuration: one YAML file, read into validated and immutable settings.

`load` and `parse` either return `Settings` or raise `ConfigurationError` with file, line and remedy.

- Every scalar is the string that stands there (`22:00`, `no`, `+43…`, `1001`), converted by the type of its
  setting. A key with nothing behind it is as if it were not there; `""` is the empty text.
- `${NAME}` in any value comes from the environment; `$${` is a plain `${`.
- A secret `key` may be given as `key_file`: a path that starts at the folder of the configuration.
- Unknown and repeated keys are errors, at any depth.
- Anchors, aliases and `<<` work; tags (`!!int`) and more than one document do not.
"""

from answerback.settings.load import load, parse
from answerback.settings.values import (
    ApiKey,
    Hitl,
    Limits,
    Plugin,
    Route,
    Settings,
    reaching,
)

__all__ = ["ApiKey", "Hitl", "Limits", "Plugin", "Route", "Settings", "load", "parse", "reaching"]
