"""The installation's secret, made once and kept, and the key that is derived from it."""

import contextlib
import os
import pathlib
import secrets
import uuid
from collections.abc import Iterator

from answerback import signing
from answerback.errors import ConfigurationError
from answerback.settings import Settings
from answerback.tokens import Tokens


def secret_of(settings: Settings) -> bytes:
    """The installation's secret: configured, or made once at data_dir/secret with mode 0600."""
    if settings.secret is not None:
        return settings.secret.get_secret_value().encode()
    file = pathlib.Path(settings.data_dir) / "secret"
    if not (kept := kept_secret(file)):  # anybody could guess what is derived from it
        raise ConfigurationError("This file holds no secret. Restore it from a backup.", file=str(file))
    return kept.encode()


def signing_key(settings: Settings) -> bytes:
    """What signs events that are posted to others: configured, or derived from the installation's secret."""
    if settings.signing_secret is not None:
        return signing.key_of(settings.signing_secret.get_secret_value())
    return Tokens(secret_of(settings), "").signing_key


def kept_secret(path: pathlib.Path) -> str:
    """The secret in a file; made, readable by its owner only, when there is no file. "": it holds no text.

    It is on the disk, whole and under its name, before anything is derived from it: links and buttons that
    were sent must outlive a power failure.
    """
    if not path.exists():
        fresh = _fresh(path)
        with contextlib.suppress(FileExistsError):  # somebody else was first: theirs counts
            os.link(fresh, path)
        fresh.unlink()
        _settle(path.parent)
    try:
        return path.read_text("utf-8").strip()
    except UnicodeDecodeError:
        return ""


@contextlib.contextmanager
def renewed(settings: Settings) -> Iterator[bytes]:
    """Another secret: the one that is configured now, or a new one, which takes the place of the one in

    data_dir once the block has come to its end, and not before.
    """
    if settings.secret is not None:
        yield settings.secret.get_secret_value().encode()
        return
    path = pathlib.Path(settings.data_dir) / "secret"
    fresh = _fresh(path)
    try:
        yield fresh.read_text().strip().encode()
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    _settle(path.parent)


def _fresh(path: pathlib.Path) -> pathlib.Path:
    """A new secret beside `path`, on the disk."""
    fresh = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
    with open(fresh, "x", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.write(secrets.token_urlsafe(32) + "\n")
        file.flush()
        os.fsync(file.fileno())
    return fresh


def _settle(folder: pathlib.Path) -> None:
    """A name in a folder outlives a power failure once the folder is on the disk too."""
    opened = os.open(folder, os.O_RDONLY)
    os.fsync(opened)
    os.close(opened)
