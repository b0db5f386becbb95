"""YAML text → plain data in which every scalar is the string that stands there, and the line of every key."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from answerback.errors import ConfigurationError
from answerback.settings import sentences
from answerback.settings.source import Source

MAX_BYTES = 1 << 20
MAX_DEPTH = 32
MAX_VALUES = 50_000  # after aliases are followed: ten lines of them can stand for a billion values
MAX_CHARACTERS = 4 << 20
_VARIABLE = re.compile(r"\$\$\{|\$\{([^}]*)\}?")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLAIN_TAGS = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "map", "seq")}


class _Composer(yaml.SafeLoader):
    """Resolves nothing but strings, and gives up on deep nesting before the interpreter does."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.yaml_implicit_resolvers = {}
        self.depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise yaml.composer.ComposerError(problem="nested too deeply", problem_mark=self.get_mark())
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


def read(
    text: str, *, file: str, base_dir: str, environ: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, int], Source]:
    """The data (of `str`, `dict`, `list`, and `None` where nothing stands), its lines, and their source.

    Raises ConfigurationError. `lines` is the very mapping that the source uses.
    """
    node = _compose(text, file)
    reading = _Reading(file, base_dir, environ)
    data: Any = {} if node is None else reading.value(node, "", 1)
    if data is None:
        data = {}
    if not isinstance(data, dict):
        message = "The configuration must be a mapping: lines of `key: value`."
        raise ConfigurationError(message, file=file, line=1)
    return data, reading.lines, reading.source()


def _compose(text: str, file: str) -> yaml.Node | None:
    if len(text) > MAX_BYTES:
        raise ConfigurationError("The file is larger than 1 MiB.", file=file)
    loader = None
    try:
        loader = _Composer(text)
        return loader.get_single_node()
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, int(error.position)) + 1
        raise ConfigurationError(sentences.syntax(error.reason), file=file, line=line) from None
    except yaml.MarkedYAMLError as error:
        mark = _mark(error)
        problem = f"{error.context or ''} {error.problem or ''}"
        raise ConfigurationError(
            sentences.syntax(problem), file=file, line=mark.line + 1 if mark else 1
        ) from None
    except (yaml.YAMLError, ValueError, OverflowError):  # such as the escape "\Uffffffff"
        line = loader.line + 1 if loader else 1
        raise ConfigurationError(sentences.syntax(""), file=file, line=line) from None


def _mark(error: yaml.MarkedYAMLError) -> yaml.Mark | None:
    """Where the mistake begins: an open quote, or a key without its colon, is noticed only later."""
    opened = error.context and ("quoted" in error.context or "simple key" in error.context)
    return (error.context_mark if opened else None) or error.problem_mark or error.context_mark


class _Reading:
    """One pass over the nodes of a document."""

    def __init__(self, file: str, base_dir: str, environ: Mapping[str, str]) -> None:
        self.file, self.base_dir, self.environ = file, base_dir, environ
        self.lines: dict[str, int] = {}
        self.from_environment: set[str] = set()
        self.values = self.characters = 0

    def source(self) -> Source:
        return Source(self.file, self.base_dir, self.lines, line=1, hidden=frozenset(self.from_environment))

    def error(self, message: str, line: int) -> ConfigurationError:
        return ConfigurationError(message, file=self.file, line=line)

    def value(self, node: yaml.Node, path: str, line: int, depth: int = 0) -> Any:
        self.values += 1
        if depth > MAX_DEPTH or self.values > MAX_VALUES:
            raise self.error("Aliases make this configuration endless or far too large.", line)
        if node.tag not in _PLAIN_TAGS:
            raise self.error("A value that begins with '!' needs quotes; YAML tags are not used here.", line)
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, path, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.item(item, f"{path}.{index}", depth) for index, item in enumerate(node.value)]
        return self.scalar(node, path, line)

    def item(self, node: yaml.Node, path: str, depth: int) -> Any:
        line = self.lines[path] = node.start_mark.line + 1
        value = self.value(node, path, line, depth + 1)
        if value is None:
            raise self.error("Nothing stands behind this '-'.", line)
        return value

    def mapping(self, node: yaml.MappingNode, path: str, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, child, line in self.pairs(node, depth):
            inner = f"{path}.{key}" if path else key
            self.lines[inner] = line
            result[key] = self.value(child, inner, line, depth + 1)
        return result

    def pairs(self, node: yaml.MappingNode, depth: int) -> Iterator[tuple[str, yaml.Node, int]]:
        """Keys, values and lines: merged ones (`<<`) first, so that a mapping's own come last and win."""
        if depth > MAX_DEPTH:
            raise self.error("Aliases make this configuration endless.", node.start_mark.line + 1)
        own: dict[str, tuple[str, yaml.Node, int]] = {}
        for key, child in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode) or key.tag not in _PLAIN_TAGS:
                raise self.error("A key must be a plain word.", line)
            if key.value == "<<" and key.style is None:
                yield from self.merged(child, line, depth)
                continue
            if not key.value.isprintable() or not key.value or "${" in key.value:
                raise self.error("A key must be a plain word, without ${…}.", line)
            if key.value in own:
                first = own[key.value][2]
                what = sentences.named(key.value)
                raise self.error(f"The key {what} stands here a second time; first on line {first}.", line)
            own[key.value] = key.value, child, line
        yield from own.values()

    def merged(self, node: yaml.Node, line: int, depth: int) -> Iterator[tuple[str, yaml.Node, int]]:
        nodes = reversed(node.value) if isinstance(node, yaml.SequenceNode) else [node]  # the first wins
        for each in nodes:
            self.values += 1
            if not isinstance(each, yaml.MappingNode) or self.values > MAX_VALUES:
                raise self.error("'<<' takes an alias of a mapping, or a list of them.", line)
            yield from self.pairs(each, depth + 1)

    def scalar(self, node: yaml.Node, path: str, line: int) -> str | None:
        text = str(node.value)
        if not text and getattr(node, "style", None) is None:
            return None
        if "${" in text:
            text = _VARIABLE.sub(lambda found: self.variable(found, path, line), text)
        self.characters += len(text)
        if self.characters > MAX_CHARACTERS:
            raise self.error("Aliases make this configuration far too large.", line)
        if any("\ud800" <= character <= "\udfff" for character in text) or "\0" in text:
            raise self.error(f"{sentences.shown(path)} contains a character that cannot be stored.", line)
        return text

    def variable(self, found: re.Match[str], path: str, line: int) -> str:
        if found[0] == "$${":
            return "${"
        name, where = found[1], sentences.shown(path)
        if not found[0].endswith("}") or not _VARIABLE_NAME.fullmatch(name):
            raise self.error(f"{where}: write ${{NAME}} for an environment variable, or $${{ for ${{.", line)
        if name not in self.environ:
            key = where.rpartition(".")[2]
            in_file = f", or, if it is a secret, name a file that holds it in {key}_file"
            raise self.error(
                f"{where} needs the environment variable {name}, which is not set. "
                f"Set it (export {name}=…){'' if key.isdigit() else in_file}.",
                line,
            )
        self.from_environment.add(self.environ[name])
        return self.environ[name]
