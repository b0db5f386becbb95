"""The installation's secret: what is said when its file is not what it was."""

from pathlib import Path

import pytest

from answerback.errors import ConfigurationError
from answerback.installation import secret_of
from answerback.settings import Settings


def test_it_is_made_once(tmp_path: Path) -> None:
    settings = Settings(data_dir=str(tmp_path))
    assert secret_of(settings) == secret_of(settings)
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("held", [b"", b" \n", b"\xff\xfe\x00"])
def test_a_file_without_a_secret_is_said_to_be_one(tmp_path: Path, held: bytes) -> None:
    (tmp_path / "secret").write_bytes(held)
    with pytest.raises(ConfigurationError) as refused:
        secret_of(Settings(data_dir=str(tmp_path)))
    assert (
        str(refused.value) == f"{tmp_path / 'secret'}: This file holds no secret. Restore it from a backup."
    )
