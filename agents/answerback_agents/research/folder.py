"""A collection of one's own: a folder with texts."""

import os
from collections.abc import Iterator
from pathlib import Path

from answerback.errors import ConfigurationError
from answerback_agents.research.collection import Collection, of_documents

ENDINGS = (".md", ".markdown", ".txt")
WANTED = "Markdown or text (.md, .markdown, .txt)"


def collection_in(folder: str) -> Collection:
    """What is in the files of a folder, and of those in it. Raises ConfigurationError."""
    root = Path(folder).expanduser().absolute()
    if not root.is_dir():
        raise _wrong(f"{root} is a file; name the folder" if root.exists() else f"there is no folder {root}")
    texts = {file.relative_to(root).as_posix(): _text(file) for file in _files(root)}
    if not texts:
        raise _wrong(f"there is no {WANTED} in {root}")
    found = of_documents(texts)
    if not found.vocabulary:
        raise _wrong(f"there is nothing to cite in {root}; write sentences of three words or more")
    return found


def _files(root: Path) -> Iterator[Path]:
    """Its texts in order, without what is hidden."""

    def fails(error: OSError) -> None:
        raise _wrong(f"cannot read {error.filename}: {error.strerror}") from error

    for place, folders, names in os.walk(root, onerror=fails):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        for name in sorted(names):
            if name.lower().endswith(ENDINGS) and not name.startswith("."):
                yield Path(place, name)


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise _wrong(f"{file} is not in UTF-8; save it in UTF-8") from None
    except OSError as error:
        raise _wrong(f"cannot read {file}: {error.strerror}") from error


def _wrong(what: str) -> ConfigurationError:
    return ConfigurationError(f"options.documents: {what}")
