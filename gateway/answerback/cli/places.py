"""Where in the configuration a plugin's problem stands."""

from answerback.errors import ConfigurationError
from answerback.settings import Settings


def placed(
    settings: Settings, kind: str, name: str, error: ConfigurationError, state: str = "cannot be used"
) -> str:
    """The error with file and line: a plugin knows what is wrong, and not always where it was configured."""
    plugin = (settings.agents if kind == "agent" else settings.providers).get(name)
    if plugin is None or (error.file == plugin.file and error.line):
        return str(error)
    line = plugin.lines.get("graph", plugin.line)
    where = f"{plugin.file}:{line}: " if plugin.file and line else ""
    return f"{where}the {kind} {name} {state}: {error}"
