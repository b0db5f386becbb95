"""Where the gateway is and which key is used: from the environment, the configuration, or data_dir."""

from pathlib import Path

import pytest

from answerback.cli.gateway import find, read_settings
from answerback.errors import ConfigurationError


def written(folder: Path, text: str) -> str:
    file = folder / "answerback.yaml"
    file.write_text(text)
    return str(file)


def test_with_url_and_key_in_the_environment_no_configuration_is_read() -> None:
    place = find("no/such/file", "http://far:1", {"ANSWERBACK_KEY": " k \n"})
    assert (place.url, place.key, place.settings) == ("http://far:1", "k", None)


def test_the_address_is_where_the_configuration_listens_not_what_the_public_sees(tmp_path: Path) -> None:
    file = written(tmp_path, "listen: 0.0.0.0:9000\npublic_url: https://ask.example.org\n")
    assert find(file, "", {"ANSWERBACK_KEY": "k"}).url == "http://127.0.0.1:9000"


def test_the_key_in_the_environment_comes_before_that_of_the_configuration(tmp_path: Path) -> None:
    file = written(tmp_path, "api_keys: [{name: ops, key: configured}]\n")
    assert find(file, "", {}).key == "configured"
    assert find(file, "", {"ANSWERBACK_KEY": "own"}).key == "own"


def test_of_several_keys_the_one_that_may_do_most_is_used(tmp_path: Path) -> None:
    keys = "[{name: a, key: narrow, scopes: read}, {name: b, key: wide}]"
    assert find(written(tmp_path, f"api_keys: {keys}\n"), "", {}).key == "wide"


def test_without_a_configured_key_the_one_that_serve_made_is_used(tmp_path: Path) -> None:
    file = written(tmp_path, "data_dir: var\n")
    with pytest.raises(ConfigurationError, match="`answerback serve` makes one"):
        find(file, "", {})
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "api-key").write_text("made\n")
    assert find(file, "", {}).key == "made"


def test_a_file_of_the_key_that_is_no_text_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "api-key").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="this is no text"):
        find(written(tmp_path, "data_dir: var\n"), "", {})


def test_keys_that_are_configured_as_digests_cannot_be_used_and_that_is_said(tmp_path: Path) -> None:
    file = written(tmp_path, f"api_keys: [{{name: a, key_sha256: {'0' * 64}}}]\n")
    with pytest.raises(ConfigurationError, match="SHA-256 only: put one into"):
        find(file, "", {})


def test_secrets_that_only_serve_needs_may_be_missing(tmp_path: Path) -> None:
    file = written(tmp_path, "providers: {telegram: {token: '${TOKEN}'}}\nlisten: 127.0.0.1:9\n")
    assert read_settings(file, {}).port == 9


@pytest.mark.parametrize(
    "line", ["listen: '${HERE}'", "data_dir: '${HERE}'", "api_keys: [{name: a, key: '${HERE}'}]"]
)
def test_a_variable_that_says_where_or_who_must_be_set(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigurationError, match="HERE, which is not set"):
        read_settings(written(tmp_path, f"{line}\n"), {})


def test_another_mistake_in_the_configuration_is_still_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="Unknown key"):
        read_settings(written(tmp_path, "listne: 1\n"), {})


def test_who_is_asked_is_known_from_the_route(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        "api_keys: [{name: a, key: kk}]\ncontacts: {a: {name: Ana}, b: {name: Ben}}\n"
        "routes: {one: {ask: b}}\n",
    )
    place = find(file, "", {})
    assert (place.asked(""), place.asked("one")) == (("a", "b"), ("b",))


def test_the_key_is_in_no_repr(tmp_path: Path) -> None:
    assert "secret-key" not in repr(find(None, "http://far:1", {"ANSWERBACK_KEY": "secret-key"}))
