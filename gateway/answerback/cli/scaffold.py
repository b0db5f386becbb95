"""A new provider as a package: its files, made from the templates beside this module."""

import importlib.resources
import importlib.util
import keyword
import re
import shutil
import string
import tempfile
from pathlib import Path

import answerback
from answerback import discovery, provider
from answerback.errors import ConfigurationError

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST = 30
TAKEN = ("api", "console", "default", "form", "link", "llm", "scripted")  # who answered is told by these
FILES = {
    "pyproject.toml": "pyproject.toml.txt",
    "README.md": "README.md.txt",
    "src/{module}/__init__.py": "provider.py.txt",
    "src/{module}/py.typed": "",
    "tests/test_contract.py": "test_contract.py.txt",
}


def checked(name: str) -> str:
    """The name, if a provider can have it. Raises ConfigurationError."""
    if not NAME.fullmatch(name) or len(name) > LONGEST:
        raise ConfigurationError(
            f"A provider's name has small letters, digits and single hyphens, begins with a letter and is at "
            f"most {LONGEST} characters long, such as my-chat."
        )
    gaps = names(name)
    made, module = gaps["name_class"], gaps["module"]
    installed = {plugin.name for plugin in discovery.installed() if plugin.kind == "provider"}
    if name in installed.union(TAKEN) or keyword.iskeyword(made) or _is_a_word(made):
        raise ConfigurationError(
            f"{name} means something else already. Take another name, such as my-{name}."
        )
    if importlib.util.find_spec(module) is not None:
        raise ConfigurationError(f"There is a module {module} already. Take another name.")
    return name


def _is_a_word(made: str) -> bool:
    """Whether the templates mean something by it already; pytest takes what begins with Test for tests."""
    return made.startswith("Test") or any(re.search(rf"\b{made}\b", _read(each)) for each in FILES.values())


def names(name: str) -> dict[str, str]:
    """What stands in the gaps of the templates."""
    words = name.split("-")
    return {
        "name": name,
        "name_class": "".join(word.capitalize() for word in words),
        "title": " ".join(words).capitalize(),
        "package": f"answerback-{name}",
        "module": f"answerback_{'_'.join(words)}",
        "contract": str(provider.CONTRACT_VERSION),
        "version": answerback.__version__,
        "dollar": "$",
    }


def texts(name: str) -> dict[str, str]:
    """The files of a package by their paths in it."""
    gaps = names(name)
    return {
        path.format(**gaps): string.Template(_read(template)).substitute(gaps)
        for path, template in FILES.items()
    }


def _read(template: str) -> str:
    folder = importlib.resources.files("answerback.cli") / "template"
    return (folder / template).read_text("utf-8") if template else ""


def write(name: str, folder: Path) -> list[Path]:
    """Write a package into a folder that is not there yet, or empty. All of it or nothing.

    Returns the files. Raises ConfigurationError for what is no name, or a folder that holds something.
    """
    made = texts(checked(name))
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise ConfigurationError("This is no folder: nothing was written.", file=str(folder))
    if folder.exists() and any(folder.iterdir()):
        raise ConfigurationError(
            "There is something in this folder already: nothing was written.", file=str(folder)
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    begun = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        for path, text in made.items():
            file = begun / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        begun.chmod(0o755)
        try:
            begun.rename(folder)  # onto an empty folder, or none: what came there meanwhile stays
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise ConfigurationError(f"It cannot be written: {why}.", file=str(folder)) from None
    finally:
        shutil.rmtree(begun, ignore_errors=True)
    return [folder / path for path in made]
