"""The settings of a Telegram provider."""

import pytest
from pydantic import ValidationError

from answerback.provider import ConfigurationError, ProviderContext
from answerback_providers.telegram import Telegram, TelegramSettings
from tests.providers.telegram.support import TOKEN, provider


def test_a_token_is_all_that_it_needs() -> None:
    settings = TelegramSettings.model_validate({"token": TOKEN})
    assert (settings.mode, settings.api_base) == ("polling", "https://api.telegram.org")


def test_the_token_is_not_shown_by_the_settings() -> None:
    assert TOKEN not in repr(TelegramSettings.model_validate({"token": TOKEN}))


def test_a_line_end_after_the_token_as_in_a_file_does_no_harm() -> None:
    settings = TelegramSettings.model_validate({"token": TOKEN + "\n"})
    assert settings.token.get_secret_value() == TOKEN


def test_what_is_no_token_is_named_without_being_repeated() -> None:
    with pytest.raises(ValidationError, match="is not a bot token") as caught:
        TelegramSettings.model_validate({"token": "sesame-open"})
    assert "sesame" not in str(caught.value)


def test_the_webhook_mode_without_a_secret_is_refused_with_the_remedy() -> None:
    with pytest.raises(ValidationError, match="mode: webhook needs webhook_secret"):
        TelegramSettings.model_validate({"token": TOKEN, "mode": "webhook"})


def test_an_empty_webhook_secret_is_none() -> None:
    with pytest.raises(ValidationError, match="mode: webhook needs webhook_secret"):
        TelegramSettings.model_validate({"token": TOKEN, "mode": "webhook", "webhook_secret": " "})


def test_a_webhook_secret_that_telegram_would_refuse_is_refused_here_unrepeated() -> None:
    with pytest.raises(ValidationError, match="1 to 256 characters") as caught:
        TelegramSettings.model_validate({"token": TOKEN, "webhook_secret": "geheim & lang"})
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("base", ["api.telegram.org", "ftp://host", "http://", "https://h/?token=1"])
def test_a_base_that_is_no_address_is_refused(base: str) -> None:
    with pytest.raises(ValidationError, match="must be an address like"):
        TelegramSettings.model_validate({"token": TOKEN, "api_base": base})


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(ValidationError):
        TelegramSettings.model_validate({"token": TOKEN, "tokn": "1"})


def test_only_the_polling_mode_polls() -> None:
    assert provider().polls
    assert not provider(mode="webhook", webhook_secret="s3").polls


@pytest.mark.parametrize("public_url", ["", "http://ask.example.org"])
async def test_telegram_itself_needs_an_https_address_for_its_webhook(public_url: str) -> None:
    settings = TelegramSettings.model_validate({"token": TOKEN, "mode": "webhook", "webhook_secret": "s3"})
    telegram = Telegram("telegram", settings, ProviderContext(public_url=public_url))
    with pytest.raises(ConfigurationError, match="public_url, over https"):
        await telegram.open()


@pytest.mark.parametrize("id", ["@ana", "ana", "t.me/ana", "+4366412345", "", "0", "1001 "])
def test_a_user_name_is_no_address_of_telegram(id: str) -> None:
    with pytest.raises(ValueError, match="ids are numbers, never a user name"):
        provider().canonical(id)


def test_a_person_s_number_and_that_of_a_group_are() -> None:
    assert [provider().canonical(id) for id in ("1001", "-1001234567890")] == ["1001", "-1001234567890"]
