"""What a configuration may say, what it means, and what is said when it cannot be used."""

import dataclasses
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from answerback.errors import ConfigurationError
from answerback.model import Address, OnExpire
from answerback.sessions import begun
from answerback.settings import Settings, load, parse, units

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "config"
SECRET = "correct-horse-battery"
ENVIRON = {
    "TELEGRAM_TOKEN": "123456789:AAEcorrecthorse",
    "SMTP_PASSWORD": "hunter22",
    "OPS_KEY": "0123456789abcdef",
    "ANSWERBACK_SECRET": SECRET,
    "DATABASE_URL": "postgresql://answerback:hunter22@db/answerback",
}


def read(text: str, **environ: str) -> Settings:
    return parse(text, file="answerback.yaml", environ=environ)


def refused(text: str, **environ: str) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as caught:
        read(text, **environ)
    return caught.value


def options(yaml_text: str, **environ: str) -> dict[str, Any]:
    """The options of a provider, which are not interpreted: what scalars are read as."""
    return read(f"providers: {{p: {yaml_text}}}", **environ).providers["p"].options


class TestScalars:
    @pytest.mark.parametrize(
        "scalar",
        ["22:00", "no", "yes", "on", "null", "~", "+4366012345", "1001", "0x1F", "1e3", "2026-11-21"],
    )
    def test_each_is_the_text_that_stands_there(self, scalar):
        assert options(f"{{value: {scalar}}}") == {"value": scalar}

    def test_quotes_change_nothing(self):
        assert options("{a: '1', b: \"1\", c: 1}") == {"a": "1", "b": "1", "c": "1"}

    def test_nothing_behind_a_key_is_as_if_the_key_were_not_there(self):
        assert read("listen:\napi_keys:\nhitl:\nproviders:\n") == read("")

    def test_an_empty_text_is_a_text(self):
        assert options("{a: '', b: }") == {"a": "", "b": None}

    def test_an_empty_file_is_valid(self):
        assert read("# nothing\n") == read("") == read("---\n...\n")

    def test_they_are_converted_by_the_type_of_their_setting(self):
        read_settings = read("hitl: {may_approve: yes, max_interactions: 7}\nlimits: {body_bytes: 2 MiB}")
        assert read_settings.hitl.may_approve is True
        assert read_settings.hitl.max_interactions == 7
        assert read_settings.limits.body_bytes == 2 * 1024 * 1024

    def test_what_was_said_is_kept_for_good_or_for_a_day_at_least(self):
        assert (read("").retention, read("retention: 90d").retention) == (None, 90 * 86_400)
        assert "for a day at least, such as 30d" in refused("retention: 23h").message
        assert "not a duration" in refused("retention: 90").message

    def test_a_byte_order_mark_is_skipped(self, tmp_path):
        (tmp_path / "a.yaml").write_bytes(b"\xef\xbb\xbflisten: 127.0.0.1:1\n")
        assert load(str(tmp_path / "a.yaml"), environ={}).port == 1


class TestEnvironment:
    def test_variables_are_filled_in_anywhere_in_a_value(self):
        assert options('{a: "x${A}y${B}", b: ["${A}"]}', A="1", B="") == {"a": "x1y", "b": ["1"]}

    def test_what_comes_from_the_environment_is_not_read_again(self):
        assert options('{a: "${A}"}', A="${B}: [x]") == {"a": "${B}: [x]"}

    def test_a_doubled_dollar_is_a_plain_one(self):
        assert options("{a: '$${A}', b: '$A', c: '$$'}") == {"a": "${A}", "b": "$A", "c": "$$"}

    def test_a_missing_variable_names_key_line_and_remedy(self):
        error = refused('providers:\n  telegram:\n    token: "${NO_TOKEN}"\n')
        assert error.line == 3
        assert "providers.telegram.token" in error.message
        assert "export NO_TOKEN=" in error.message
        assert "token_file" in error.message

    @pytest.mark.parametrize("wrong", ["${", "${}", "${A-B}", "${A:-default}", "${A"])
    def test_what_looks_like_a_variable_and_is_none_is_an_error(self, wrong):
        assert "${NAME}" in refused(f"providers: {{p: {{a: '{wrong}'}}}}", A="1").message

    def test_what_is_not_text_is_an_error(self):
        assert "cannot be stored" in refused("providers: {p: {a: '${A}'}}", A="\udcff").message


class TestSyntax:
    @pytest.mark.parametrize(
        ("text", "line", "words"),
        [
            ("listen: 127.0.0.1:1\nhitl:\n\tmode: human\n", 3, "tab"),
            ("a:\n  b: 1\n c: 2\n", 3, "indentation"),
            ("a: b: c", 1, "':'"),
            ("a: 1\nb:2\nc: 3", 2, "':'"),
            ("a: 'open\n\n\n", 1, "never closed"),
            ("a: [1, 2\nb: 3\n", 2, "bracket"),
            ("a: *b", 1, "'*'"),
            ("a: @b", 1, "quotes"),
            ('a: "\\q"', 1, "backslash"),
            ('\n\na: "\\Uffffffff"', 3, "YAML"),
            ("a: !!python/object:os.system b", 1, "'!'"),
            ("a: !b c", 1, "'!'"),
            ("a: 1\n---\nb: 2", 2, "one document"),
            ("a: 1\nb: \x07", 2, "cannot be printed"),
            ("? [a]\n: b", 1, "key"),
            ("- a", 1, "mapping"),
            ("just text", 1, "mapping"),
            ("[" * 100_000, 1, "deeply"),
            ('a: "\\ud800"', 1, "cannot be stored"),
            ("${A}: 1", 1, "key"),
        ],
    )
    def test_a_mistake_has_a_line_and_a_sentence(self, text, line, words):
        error = refused(text)
        assert (error.file, error.line) == ("answerback.yaml", line)
        assert words in error.message

    def test_a_key_may_not_stand_twice(self):
        error = refused("listen: 127.0.0.1:1\ndata_dir: a\nlisten: 127.0.0.1:2\n")
        assert error.line == 3
        assert "line 1" in error.message

    @pytest.mark.parametrize(
        "text",
        [
            "token: *correct-horse",
            "token: !correct-horse x",
            "token: @correct-horse",
            "token: %correct-horse",
            "token: `correct-horse`",
            'token: "correct-horse\\q"',
            "token: 'correct-horse",
            "token: |correct-horse",
            "token: correct-horse: x",
            "token: {correct-horse: [}",
            "correct-horse\ntoken: x",
        ],
    )
    def test_the_sentence_never_quotes_the_file(self, text):
        assert "correct" not in str(refused(text))

    def test_aliases_repeat_a_value(self):
        text = "providers: {a: &x {use: p, k: 1}, b: *x, c: {<<: *x, k: 2}}"
        providers = read(text).providers
        assert [p.use for p in providers.values()] == ["p", "p", "p"]
        assert [p.options["k"] for p in providers.values()] == ["1", "1", "2"]

    @pytest.mark.parametrize("merge", ["<<: *a", "<<: [*a]"])
    def test_aliases_cannot_grow_without_bound(self, merge):
        laughs = "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
        for before, after in zip("abcdefg", "bcdefgh", strict=True):
            laughs += f"{after}: &{after} [{','.join([f'*{before}'] * 10)}]\n"
        assert "too large" in refused(laughs).message
        assert "endless" in refused("a: &a [*a]").message
        assert "endless" in refused(f"a: &a {{{merge}, k: 1}}").message

    def test_long_texts_cannot_be_multiplied_either(self):
        many = ",".join(["*a"] * 1000)
        assert "too large" in refused(f"x: [&a {'y' * 10_000},{many}]").message

    def test_a_huge_file_is_refused_unread(self):
        assert "1 MiB" in refused("#" * (1 << 20) + "\n").message


class TestUnknownKeys:
    @pytest.mark.parametrize(
        ("text", "line", "meant"),
        [
            ("\nlisten: 127.0.0.1:1\npublik_url: https://a.example", 3, "public_url"),
            ("hitl:\n  enabled: yes\n  max_interaction: 5\n", 3, "max_interactions"),
            ("contacts:\n  alice:\n    time_zone: UTC\n", 3, "timezone"),
            ("routes:\n  default:\n    expires: 5m\n", 3, "expires_in"),
            ("api_keys:\n  - name: a\n    key: b\n    scope: ask\n", 4, "scopes"),
            ("contacts: {a: {addresses: {p: {id: 1,\n plaace: 2}}}}", 2, "place"),
            ("api_keys:\n  - {name: a,\n     keyfile: b}\n", 3, "key_file"),
            ("LISTEN: 127.0.0.1:1", 1, "listen"),
        ],
    )
    def test_the_line_and_what_was_meant_are_named_at_any_depth(self, text, line, meant):
        error = refused(text)
        assert error.line == line
        assert f'Did you mean "{meant}"?' in error.message

    def test_an_unknown_key_at_the_top_is_in_nothing(self):
        assert refused("lissten: 127.0.0.1:1").message.startswith('Unknown key "lissten". Did you mean')

    def test_a_number_that_is_out_of_range_is_refused_in_words(self):
        error = refused("hitl:\n  max_interactions: 0")
        assert (error.line, error.message) == (2, "hitl.max_interactions: this must be 1 or more.")

    def test_without_a_likely_one_all_are_listed(self):
        assert "There is: enabled, mode, max_interactions, may_approve." in refused("hitl: {qqq: 1}").message

    @pytest.mark.parametrize("key", ["+4366012345", "4366012345", "a@4366.example"])
    @pytest.mark.parametrize(
        "text",
        [
            "contacts: {a: {'KEY': telegram}}",
            "contacts: {a: {addresses: {'KEY': telegram}}}",
            "contacts: {'KEY': {nme: a}}",
            "contacts: {'KEY': '${NOTHING}'}",
            "contacts: {'KEY': '${'}",
            "routes: {default: {ask: ['KEY']}}",
            "routes: {default: {'KEY': 1}}",
            "{'KEY': 1, 'KEY': 2}",
        ],
    )
    def test_a_key_that_may_be_a_phone_number_or_an_address_is_not_repeated(self, text, key):
        assert "4366" not in str(refused(text.replace("KEY", key)))


class TestSecrets:
    def test_each_may_come_from_a_file_beside_the_configuration(self, tmp_path):
        (tmp_path / "secrets").mkdir()
        (tmp_path / "secrets" / "s").write_text(f"{SECRET}\n")
        (tmp_path / "secrets" / "db").write_text("postgresql://me:pw@host/name\r\n")
        path = tmp_path / "a.yaml"
        path.write_text(
            "secret_file: secrets/s\ndatabase_file: secrets/db\n"
            "api_keys: [{name: a, key_file: secrets/s}, {name: b, key: xyz}]"
        )
        loaded = load(str(path), environ={})
        assert loaded.secret == SecretStr(SECRET)
        assert loaded.database.startswith("postgresql://me:pw@host/name?")
        assert loaded.api_keys[0].key == SecretStr(SECRET)

    def test_a_file_that_cannot_be_read_is_named_with_the_reason(self, tmp_path):
        (tmp_path / "a.yaml").write_text("\nsecret_file: nowhere")
        with pytest.raises(ConfigurationError, match=r":2: secret_file: the file nowhere .*No such file"):
            load(str(tmp_path / "a.yaml"), environ={})

    @pytest.mark.parametrize("content", [b"\xff\xfe", b"a\0b" * 10, b"x" * 70_000])
    def test_a_file_that_holds_no_text_is_refused(self, tmp_path, content):
        (tmp_path / "s").write_bytes(content)
        (tmp_path / "a.yaml").write_text("secret_file: s")
        with pytest.raises(ConfigurationError, match="UTF-8"):
            load(str(tmp_path / "a.yaml"), environ={})

    def test_an_empty_secret_is_an_error_however_it_is_given(self, tmp_path):
        (tmp_path / "empty").write_text("\n")
        (tmp_path / "a.yaml").write_text("secret_file: empty")
        with pytest.raises(ConfigurationError, match="empty"):
            load(str(tmp_path / "a.yaml"), environ={})
        assert "empty" in refused('secret: "${S}"', S="").message

    def test_the_same_secret_twice_is_an_error(self):
        assert "one of the two" in refused(f"secret: {SECRET}\nsecret_file: s").message

    def test_one_that_signs_is_a_standard_webhooks_secret(self):
        good = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz"
        assert read(f"outgoing: {{signing_secret: {good}}}").signing_secret == SecretStr(good)
        wrong = refused("outgoing: {signing_secret: hunter2}").message
        assert "whsec_" in wrong
        assert "hunter2" not in wrong

    @pytest.mark.parametrize(
        "rest",
        [
            "",
            "/name?host=/var/run/postgresql",
            "me:p%40ss%2F@host:5432/name",
            "me@[::1]:5432,other:5433/name?sslmode=require&password=x#y",
            "me@/name",
        ],
    )
    def test_a_database_is_any_url_that_names_its_parts_clearly(self, rest):
        assert read(f'database: "postgresql://{rest}"').database

    def test_it_is_connected_to_so_that_a_server_that_vanishes_is_noticed(self):
        alive = "keepalives_idle=15&keepalives_interval=5&keepalives_count=3&tcp_user_timeout=15000"
        assert read("database: postgresql://db/name").database == f"postgresql://db/name?{alive}"
        own = "postgresql://db/name?tcp_user_timeout=9&keepalives_idle=1"
        assert read(f"database: {own}").database == f"{own}&keepalives_interval=5&keepalives_count=3"
        assert read("database: sqlite").database == "sqlite"

    def test_the_server_notices_as_soon_as_its_client_does_and_later_where_that_is_wanted(self):
        own = {"keepalives_idle": "1", "tcp_user_timeout": "500", "dbname": "name"}
        assert begun(own).startswith(
            "SET tcp_keepalives_idle = 1; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; "
            "SET tcp_user_timeout = 500; "
        )
        assert "SET tcp_keepalives_count = 12; SET tcp_user_timeout = 60000; " in begun({}, 4)

    def test_one_that_a_url_would_take_for_something_else_has_to_be_encoded(self):
        assert "write @ as %40" in refused("database: postgresql://me:a@b@host/name").message

    def test_one_that_can_be_guessed_is_refused(self):
        assert "16 characters" in refused("secret: hunter2").message

    def test_none_is_in_any_repr(self):
        text = (
            f"secret: {SECRET}\ndatabase: postgresql://me:{SECRET}@host/name\n"
            f"api_keys: [{{name: a, key: {SECRET}}}]\nproviders: {{p: {{token: {SECRET}}}}}\n"
            f"contacts: {{a: {{addresses: {{p: {SECRET}}}}}}}"
        )
        assert SECRET not in repr(read(text))
        assert SECRET not in str(read(text))

    @pytest.mark.parametrize(
        "text",
        [
            f"database: mysql://me:{SECRET}@host/name",
            f"database: postgresql://me:x@{SECRET}@host/name",
            f"database: postgresql://me:x/{SECRET}@host/name",
            f"database: postgresql://me:x?{SECRET}@host/name",
            f"database: postgresql://me:12/{SECRET}@host/name",
            f"database: postgresql://me:12?{SECRET}@host/name",
            f"database: postgresql://me:x:{SECRET}@host/name",
            f"database: postgresql://me:%zz{SECRET}@host/name",
            f"database: postgresql://me:%00{SECRET}@host/name",
            f"database: postgresql://host:{SECRET}/name",
            f"database: postgresql://host/name?{SECRET}",
            "database: postgresql://me:x@${S}@host/name",
            f"api_keys: [{{name: a, key: '{SECRET} {SECRET}'}}]",
            f"api_keys: [{{name: a, key_sha256: {SECRET}}}]",
            f"api_keys: [{{name: a, key: {SECRET}}}, {{name: b, key: {SECRET}}}]",
            f"api_keys: {SECRET}",
            f"api_keys: [{SECRET}]",
            f"providers: {{telegram: {SECRET}}}",
            f"providers: {SECRET}",
            f"secret: [{SECRET}]",
            "listen: ${S}",
            "hitl: {mode: '${S}'}",
            "public_url: https://${S}/x",
            "routes: {default: {ask: ['${S}']}}",
            "secret_file: ${S}",
            f"contacts: {{a: {{name: '{SECRET}\n\n'}}}}",
            f"providers: {{p: }}\ncontacts: {{a: {{addresses: &x {{p: {SECRET}}}}}, b: {{addresses: *x}}}}",
        ],
    )
    def test_none_is_in_any_error(self, text):
        assert SECRET not in str(refused(text, S=SECRET))


class TestListening:
    @pytest.mark.parametrize(
        ("listen", "host", "port", "url", "auth"),
        [
            ("127.0.0.1:8700", "127.0.0.1", 8700, "http://127.0.0.1:8700", "link"),
            ("localhost:1", "localhost", 1, "http://localhost:1", "link"),
            ('"[::1]:8700"', "::1", 8700, "http://[::1]:8700", "link"),
            ("0.0.0.0:80", "0.0.0.0", 80, "http://127.0.0.1:80", "code"),  # noqa: S104
            ("ask.example.org:80", "ask.example.org", 80, "http://ask.example.org:80", "code"),
        ],
    )
    def test_the_address_gives_url_and_form_auth(self, listen, host, port, url, auth):
        made = read(f"listen: {listen}")
        assert (made.host, made.port, made.public_url, made.form_auth) == (host, port, url, auth)

    @pytest.mark.parametrize(
        "wrong", ["8700", "localhost", ":8700", "a:b", "127.0.0.1:70000", "[::g]:1", "a b:1"]
    )
    def test_anything_but_host_and_port_is_refused(self, wrong):
        assert (
            "HOST:PORT" in refused(f'listen: "{wrong}"').message
            or "IPv6" in refused(f'listen: "{wrong}"').message
        )

    def test_by_default_only_this_machine_is_served(self):
        assert read("").listen == "127.0.0.1:8700"
        assert read("").on_loopback

    def test_a_public_address_in_front_of_loopback_needs_codes(self):
        proxied = read("public_url: https://ask.example.org")
        assert not proxied.on_loopback
        assert proxied.form_auth == "code"

    def test_form_auth_may_be_relaxed(self):
        assert read("public_url: https://ask.example.org\nform_auth: link").form_auth == "link"

    @pytest.mark.parametrize("given_url", ["https://ask.example.org", "https://ask.example.org/"])
    def test_the_public_url_ends_without_a_slash(self, given_url):
        assert read(f"public_url: {given_url}").public_url == "https://ask.example.org"

    @pytest.mark.parametrize(
        "wrong",
        [
            "ask.example.org",
            "ftp://ask.example.org",
            "https://",
            "https://ask.example.org/path",
            "https://ask.example.org/?a",
            "https://ask.example.org#a",
            "https://user:pw@ask.example.org",
            "https://ask.example.org:99999",
            "https://[::1",
            "https://a b",
            "https://a<script>",
        ],
    )
    def test_it_is_an_http_address_with_nothing_behind_the_host(self, wrong):
        assert "public_url" in refused(f'public_url: "{wrong}"').message

    @pytest.mark.parametrize(
        "url", ["sqlite", "postgresql://user@host/name", "postgresql:///name?host=/run/postgresql"]
    )
    def test_the_database_is_sqlite_or_postgresql(self, url):
        assert read(f"database: {url}").database.startswith(url)

    def test_the_short_scheme_of_postgresql_is_understood(self):
        assert read("database: postgres://host/name").database.startswith("postgresql://host/name?")


class TestUnits:
    @pytest.mark.parametrize(
        ("text", "seconds"),
        [
            ("90s", 90),
            ("10m", 600),
            ("24h", 86_400),
            ("7d", 604_800),
            ("2w", 1_209_600),
            ("1h30m", 5400),
            ("1h 30m", 5400),
            ("1.5h", 5400),
            ("500ms", 0.5),
            ("10 m", 600),
        ],
    )
    def test_a_duration_has_a_unit(self, text, seconds):
        assert units.duration(text) == seconds

    @pytest.mark.parametrize(
        "wrong", ["", "90", "s", "-5m", "0s", "5x", "9999999d", "nan", "٣m", "1h,", None, []]
    )
    def test_anything_else_is_none(self, wrong):
        with pytest.raises(ValueError, match="duration"):
            units.duration(wrong)

    @pytest.mark.parametrize(
        ("text", "size"), [("1048576", 1 << 20), ("1 MiB", 1 << 20), ("64KiB", 65_536), ("2 mb", 2_000_000)]
    )
    def test_a_size_may_have_a_unit(self, text, size):
        assert units.size(text) == size

    @pytest.mark.parametrize("wrong", ["", "0", "-1", "1 TiB", "1.5 MiB", None, []])
    def test_anything_else_is_no_size(self, wrong):
        with pytest.raises(ValueError, match="size"):
            units.size(wrong)


class TestContacts:
    def test_a_contact_has_addresses_by_provider(self):
        contact = read(
            "providers: {telegram: , email: }\n"
            "contacts: {alice: {name: Alice, timezone: Europe/Vienna, quiet_hours: 22:00-07:00,"
            " addresses: {telegram: 1001, email: {id: a@example.org, place: b@example.org}}}}"
        ).contacts["alice"]
        assert contact.quiet_hours == "22:00-07:00"
        assert contact.addresses == (
            Address("telegram", "1001", "1001", contact="alice"),
            Address("email", "a@example.org", "b@example.org", contact="alice"),
        )

    def test_one_without_anything_has_a_name_and_no_address(self):
        contact = read("contacts: {alice: }").contacts["alice"]
        assert (contact.id, contact.name, contact.timezone, contact.addresses) == (
            "alice",
            "alice",
            "UTC",
            (),
        )

    def test_an_address_may_be_linked_later(self):
        linked_later = read("providers: {telegram: }\ncontacts: {alice: {addresses: {telegram: }}}")
        assert linked_later.contacts["alice"].addresses == ()

    def test_an_address_on_a_provider_that_is_not_configured_is_an_error(self):
        error = refused("providers: {telegram: }\ncontacts:\n  alice:\n    addresses:\n      telegramm: 1\n")
        assert error.line == 5
        assert 'Did you mean "telegram"?' in error.message

    def test_an_address_belongs_to_one_contact(self):
        error = refused(
            "providers: {p: }\ncontacts:\n  a: {addresses: {p: '1001'}}\n"
            "  b: {addresses: {p: {id: '1001', place: '7'}}}\n"
        )
        assert error.line == 4
        assert '"a" has the same address' in error.message
        assert "1001" not in error.message

    @pytest.mark.parametrize(
        ("zone", "hint"),
        [
            ("Europe/Wien", "Europe/Vienna"),
            ("vienna", "Europe/Vienna"),
            ("new_york", "America/New_York"),
            ("CEST", "Did you mean"),
            ("xxxxxxxx", "It looks like"),
            ("/etc/passwd", ""),
            ("../x", ""),
        ],
    )
    def test_a_time_zone_must_exist(self, zone, hint):
        error = refused(f"contacts:\n  alice:\n    timezone: {zone}")
        assert error.line == 3
        assert "no such time zone" in error.message
        assert hint in error.message

    @pytest.mark.parametrize(
        "wrong", ["22-7", "22:00", "24:00-07:00", "22:00-22:00", "22:60-07:00", "10pm-7am"]
    )
    def test_quiet_hours_are_two_times_of_day(self, wrong):
        assert "quiet_hours" in refused(f"contacts: {{alice: {{quiet_hours: '{wrong}'}}}}").message

    @pytest.mark.parametrize(
        "wrong",
        [
            "{language: english!}",
            '{name: "a\\nBcc: b"}',
            "{name: ' a'}",
            "{addresses: {p: {place: 1}}}",
            '{addresses: {p: "1\\r\\n2"}}',
            "{addresses: {p: [1]}}",
            "{addresses: [p]}",
            "[1]",
        ],
    )
    def test_what_cannot_be_is_refused(self, wrong):
        assert refused(f"providers: {{p: }}\ncontacts:\n  alice: {wrong}").line == 3

    @pytest.mark.parametrize("name", ["a b", "a.b", "ä", "a/b", "-a", "x" * 65])
    @pytest.mark.parametrize("section", ["contacts", "agents", "providers", "routes"])
    def test_names_fit_into_a_url(self, section, name):
        assert "name" in refused(f'{section}: {{"{name}": }}').message


class TestRoutes:
    WORLD = "providers: {telegram: , email: }\ncontacts: {alice: , ben: }\n"

    def test_a_route_says_who_where_and_until_when(self):
        route = read(
            self.WORLD + "routes: {urgent: {ask: [ben], providers: [email, telegram], expires_in: 1h,"
            " on_expire: no-response, reminders: [40m, 10m], form_auth: code}}"
        ).routes["urgent"]
        assert (route.name, route.ask, route.providers) == ("urgent", ("ben",), ("email", "telegram"))
        assert (route.expires_in, route.reminders) == (3600, (600, 2400))
        assert (route.on_expire, route.form_auth) == (OnExpire.NO_RESPONSE, "code")

    def test_one_name_needs_no_list(self):
        route = read(self.WORLD + "routes: {default: {ask: ben, providers: email}}").default_route
        assert (route.ask, route.providers) == (("ben",), ("email",))

    def test_without_a_default_everybody_is_asked_through_every_provider(self):
        route = read(self.WORLD).default_route
        assert (route.ask, route.providers) == (("alice", "ben"), ("telegram", "email"))
        assert (route.expires_in, route.on_expire, route.reminders) == (None, OnExpire.AUTO, ())
        assert read(self.WORLD).routes == {"default": route}

    def test_without_anybody_the_form_is_left(self):
        assert read("").default_route.ask == read("").default_route.providers == ()

    def test_without_a_section_people_answer_and_there_is_no_limit(self):
        hitl = read("").hitl
        assert (hitl.enabled, hitl.mode, hitl.max_interactions, hitl.may_approve) == (
            True,
            "human",
            None,
            False,
        )

    @pytest.mark.parametrize(
        ("text", "meant"),
        [
            ("routes:\n  default:\n    ask:\n      - alice\n      - bem", "ben"),
            ("routes:\n  default:\n    providers:\n      - email\n      - telegramm\n", "telegram"),
            ("routes:\n  default:\n    ask: [alice]\n\n    on_expire: canel", "cancel"),
        ],
    )
    def test_a_name_that_leads_nowhere_has_a_line_and_a_suggestion(self, text, meant):
        error = refused(self.WORLD + text)
        assert error.line == 7
        assert f"{meant}" in error.message.partition("Did you mean")[2]

    def test_nobody_is_asked_twice(self):
        assert "twice" in refused(self.WORLD + "routes: {default: {ask: [alice, alice]}}").message

    def test_a_reminder_after_the_deadline_is_an_error(self):
        error = refused(self.WORLD + "routes: {default: {expires_in: 1h, reminders: [10m, 1h]}}")
        assert "routes.default.reminders" in error.message


class TestApiKeys:
    def test_a_key_may_be_limited(self):
        text = (
            "agents: {mine: }\ncontacts: {alice: }\n"
            "api_keys: [{name: ops, key: abc, scopes: [ask, answer], agents: mine, contact: alice}]"
        )
        key = read(text).api_keys[0]
        assert (key.scopes, key.agents, key.contact) == (
            frozenset({"ask", "answer"}),
            frozenset({"mine"}),
            "alice",
        )
        assert key.sha256 == hashlib.sha256(b"abc").hexdigest()

    def test_its_hash_is_enough(self):
        digest = hashlib.sha256(b"abc").hexdigest()
        key = read(f"api_keys: [{{name: ops, key_sha256: {digest.upper()}}}]").api_keys[0]
        assert (key.key, key.sha256, key.scopes) == (None, digest, frozenset())

    @pytest.mark.parametrize(
        ("entry", "words"),
        [
            ("{key: abc}", "name: this is missing"),
            ("{name: a}", "one way"),
            (f"{{name: a, key: abc, key_sha256: {'0' * 64}}}", "one way"),
            ("{name: a, key_sha256: abc}", "64"),
            ("{name: a, key: 'a b'}", "header"),
            ("{name: a, key: abc, scopes: [aks]}", "Did you mean 'ask'?"),
            ("{name: a, key: abc, agents: [mine]}", "no agent"),
            ("{name: a, key: abc, contact: bob}", "no contact"),
            ("{name: old, key: abc}", "called"),
            ("{name: a, key: old}", "the same key"),
        ],
    )
    def test_what_cannot_be_is_refused(self, entry, words):
        error = refused(f"api_keys:\n  - {{name: old, key: old}}\n  - {entry}\n")
        assert error.line == 3
        assert words in error.message


class TestAuthenticate:
    def test_it_names_a_function(self):
        assert read("authenticate: my_package.sso:who").authenticate == "my_package.sso:who"
        assert read("").authenticate == ""

    @pytest.mark.parametrize("path", ["my_package", "a:", ":who", "my-package:who", "a.py:who", "a:b c"])
    def test_what_names_none_is_refused_with_its_line(self, path):
        error = refused(f"listen: 127.0.0.1:1\nauthenticate: '{path}'\n")
        assert error.line == 2
        assert "my_package.module:function" in error.message


class TestPlugins:
    def test_options_are_kept_as_they_stand_with_their_lines(self):
        plugin = read(
            "providers:\n  mail:\n    use: email\n    smtp:\n      host: h\n      port: 25\n", UNUSED="x"
        ).providers["mail"]
        assert (plugin.name, plugin.use, plugin.line, plugin.file) == ("mail", "email", 2, "answerback.yaml")
        assert plugin.options == {"smtp": {"host": "h", "port": "25"}}
        assert plugin.lines == {"use": 3, "smtp": 4, "smtp.host": 5, "smtp.port": 6}

    def test_without_use_the_name_says_what_is_used(self):
        assert read("providers: {telegram: }").providers["telegram"].use == "telegram"

    def test_an_agent_says_which_process_it_runs_in(self):
        a = "{python: ../env/bin/python, memory_limit: 2 GiB, graph: g}"
        text = f"agents: {{a: {a}, b: {{worker: no}}, c: }}"
        agents = parse(text, file="/etc/answerback/a.yaml", environ={}).agents
        assert agents["a"].options == {"graph": "g"}
        assert (agents["a"].worker, agents["a"].python) == (True, "/etc/env/bin/python")
        assert agents["a"].memory_limit == 2 << 30
        assert (agents["b"].worker, agents["b"].options) == (False, {})
        assert (agents["c"].worker, agents["c"].python, agents["c"].memory_limit) == (True, "", 0)

    def test_the_name_of_a_python_is_looked_up_later(self):
        assert read("agents: {a: {python: python3.12}}").agents["a"].python == "python3.12"

    @pytest.mark.parametrize(
        ("wrong", "path", "words"),
        [
            ("worker: perhaps", "agents.a.worker", "true or false"),
            ("memory_limit: much", "agents.a.memory_limit", "not a size"),
            ("python: [a]", "agents.a.python", "single value"),
            ("{worker: no, python: p}", "agents.a", "for a worker"),
            ("{worker: no, memory_limit: 1 GiB}", "agents.a", "for a worker"),
        ],
    )
    def test_what_is_wrong_about_its_process_is_said(self, wrong, path, words):
        error = refused(f"agents:\n  a: {wrong}\n" if wrong[0] == "{" else f"agents:\n  a:\n    {wrong}\n")
        assert error.line == (2 if wrong[0] == "{" else 3)
        assert path in error.message
        assert words in error.message

    def test_to_a_provider_these_words_are_options_like_any(self):
        provider = read("providers: {p: {worker: no, python: x}}").providers["p"]
        assert (provider.options, provider.worker) == ({"worker": "no", "python": "x"}, True)

    def test_use_is_one_name(self):
        assert "providers.p.use" in refused("providers: {p: {use: [a]}}").message


class TestFiles:
    def test_relative_paths_start_at_the_folder_of_the_file(self, tmp_path):
        (tmp_path / "a.yaml").write_text("data_dir: ../data")
        loaded = load(str(tmp_path / "a.yaml"), environ={})
        assert loaded.base_dir == str(tmp_path)
        assert loaded.data_dir == str(tmp_path.parent / "data")

    def test_a_file_is_no_folder_for_data(self, tmp_path):
        (tmp_path / "a.yaml").write_text("listen: 127.0.0.1:1\ndata_dir: taken")
        (tmp_path / "taken").write_text("")
        with pytest.raises(ConfigurationError) as refused:
            load(str(tmp_path / "a.yaml"), environ={})
        place = f"{tmp_path / 'a.yaml'}:2: data_dir: "
        assert str(refused.value) == f"{place}{tmp_path / 'taken'} is a file; name a folder."

    def test_data_stands_beside_the_file_by_default(self, tmp_path):
        (tmp_path / "a.yaml").write_text("")
        assert load(str(tmp_path / "a.yaml"), environ={}).data_dir == str(tmp_path / "var")

    @pytest.mark.parametrize(
        ("name", "words"), [("nowhere.yaml", "no such"), (".", "cannot be read"), ("\0", "path")]
    )
    def test_a_file_that_cannot_be_read_is_named(self, tmp_path, name, words):
        with pytest.raises(ConfigurationError, match=words) as caught:
            load(str(tmp_path / name), environ={})
        assert caught.value.file == str(tmp_path / name)

    def test_a_file_that_is_not_utf8_has_a_line(self, tmp_path):
        (tmp_path / "a.yaml").write_bytes(b"a: b\nc: \xe4\n")
        with pytest.raises(ConfigurationError, match=r":2: .*UTF-8"):
            load(str(tmp_path / "a.yaml"), environ={})

    def test_without_a_file_the_embedded_default_stands_in_for_the_one_in_config(self):
        embedded = load(None, environ={})
        assert embedded.base_dir == os.path.abspath("config")  # noqa: PTH100
        assert embedded.data_dir == os.path.abspath("var")  # noqa: PTH100
        assert (embedded.providers, embedded.contacts, embedded.agents) == ({}, {}, {})

    def test_the_embedded_default_is_the_one_in_config(self):
        installed = ROOT / "gateway" / "answerback" / "default.yaml"
        assert installed.read_bytes() == (CONFIG / "answerback.yaml").read_bytes()

    @pytest.mark.parametrize("path", sorted(CONFIG.glob("*.yaml")), ids=lambda path: path.stem)
    def test_every_example_can_be_used(self, path):
        loaded = load(str(path), environ=ENVIRON)
        assert loaded.default_route.ask == tuple(loaded.contacts)

    def test_the_example_with_everything_names_every_setting(self):
        text = (CONFIG / "example-everything.yaml").read_text()
        loaded = load(str(CONFIG / "example-everything.yaml"), environ=ENVIRON)
        sections: list[Any] = [
            loaded,
            loaded.hitl,
            loaded.limits,
            loaded.api_keys[0],
            loaded.routes["default"],
        ]
        names = {field.name for section in sections for field in dataclasses.fields(section)}
        derived = {"file", "base_dir"}
        assert [name for name in sorted(names - derived) if name not in text] == []

    @pytest.mark.parametrize("name", ["example-telegram", "example-everything"])
    def test_the_examples_hold_what_people_put_on_several_lines(self, name):
        assert yaml.safe_load((CONFIG / f"{name}.yaml").read_text())


class TestOverrides:
    def test_they_replace_what_the_file_says(self, tmp_path):
        (tmp_path / "a.yaml").write_text("listen: 127.0.0.1:1\nproviders: {p: {api: {base: x}, mode: y}}")
        overrides = {
            "listen": "127.0.0.1:2",
            "providers.p.api": {"base": "z", "port": 5, "tls": True},
            "providers.q.use": "webform",
            "data_dir": None,
        }
        loaded = load(str(tmp_path / "a.yaml"), environ={}, overrides=overrides)
        assert loaded.port == 2
        assert loaded.providers["p"].options == {
            "api": {"base": "z", "port": "5", "tls": "true"},
            "mode": "y",
        }
        assert loaded.providers["q"].use == "webform"
        assert loaded.data_dir == str(tmp_path / "var")

    def test_their_data_dir_starts_at_the_working_directory(self, tmp_path):
        (tmp_path / "a.yaml").write_text("data_dir: a")
        loaded = load(str(tmp_path / "a.yaml"), environ={}, overrides={"data_dir": "b"})
        assert loaded.data_dir == str(Path.cwd() / "b")

    def test_what_is_wrong_with_them_is_no_line_of_the_file(self):
        with pytest.raises(ConfigurationError) as caught:
            load(None, environ={}, overrides={"listen": "nowhere"})
        assert (caught.value.file, caught.value.line) == ("", 0)
        assert str(caught.value).startswith("listen: this is not HOST:PORT")

    def test_an_unknown_one_is_an_error(self):
        with pytest.raises(ConfigurationError, match='Did you mean "listen"'):
            load(None, environ={}, overrides={"listens": "127.0.0.1:1"})


def only_configuration_errors(text: str) -> None:
    try:
        parsed = parse(text, file="answerback.yaml", environ=ENVIRON)
    except ConfigurationError as error:
        assert error.message  # noqa: PT017
        assert error.file == "answerback.yaml"  # noqa: PT017
    else:
        assert parsed.default_route == parsed.routes["default"]


EXAMPLE = (CONFIG / "example-everything.yaml").read_text()
WORDS = [
    "listen",
    "providers",
    "contacts",
    "routes",
    "api_keys",
    "secret_file",
    "ask",
    "addresses",
    "&a",
    "*a",
]
PIECES = st.sampled_from(
    [*WORDS, "<<", ":", "- ", "{", "}", "[", "]", "\n", "  ", "'", '"', "${", "!!", "|", "%"]
)


unhurried = settings(deadline=None)  # other tests may be using the machine


@unhurried
@given(st.text())
def test_arbitrary_text_never_raises_anything_else(text):
    only_configuration_errors(text)


@unhurried
@given(st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join))
def test_neither_does_what_looks_like_yaml(text):
    only_configuration_errors(text)


@settings(unhurried, max_examples=50)
@given(st.integers(0, len(EXAMPLE)), st.integers(0, 30), PIECES | st.text(max_size=2))
def test_neither_does_a_configuration_with_a_mistake(start, length, instead):
    only_configuration_errors(EXAMPLE[:start] + instead + EXAMPLE[start + length :])


def values(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.sampled_from([*WORDS[:8], "id", "name", "key", "p", "use", "expires_in", "quiet_hours", "mode"])
    return st.lists(leaves, max_size=3) | st.dictionaries(keys, leaves, max_size=4)


@unhurried
@given(st.recursive(st.none() | st.text(max_size=8) | st.integers(), values, max_leaves=15))
def test_neither_does_yaml_of_any_other_shape(data):
    only_configuration_errors(yaml.safe_dump(data))


def test_reading_settings_imports_nothing_heavy():
    heavy = "{'fastapi', 'sqlalchemy', 'langgraph', 'telegram', 'alembic', 'apscheduler'}"
    code = f"import sys, answerback.settings; print({heavy} & set(sys.modules) or 'light')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "light"


class TestStandIns:
    def test_a_mode_names_a_provider(self):
        text = "providers: {usual: {use: default}}\nhitl: {mode: usual}\n"
        assert read(text).hitl.mode == "usual"

    def test_the_console_needs_no_configuration(self):
        assert read("hitl: {mode: console}\n").providers["console"].use == "console"

    def test_a_mode_that_is_not_there_is_refused(self):
        error = refused("providers: {usual: {use: default}}\nhitl: {mode: usuall}\n")
        assert error.line == 2 and 'Did you mean "usual"?' in error.message

    def test_questions_can_be_switched_off(self):
        assert not read("hitl: {enabled: no}\n").hitl.enabled

    def test_a_route_that_names_no_providers_reaches_people_through_those_that_do(self):
        providers = "providers: {telegram: {}, usual: {use: default}, llm: {}}\n"
        assert read(providers).default_route.providers == ("telegram",)
        assert read(f"{providers}routes: {{default: {{ask: []}}}}\n").default_route.providers == ("telegram",)

    def test_a_route_names_its_stand_ins(self):
        route = read(
            "providers: {usual: {use: default}}\n"
            "routes: {default: {stand_ins: usual, stand_ins_after: 10m, expires_in: 1h}}\n"
        ).default_route
        assert (route.stand_ins, route.stand_ins_after) == (("usual",), 600.0)

    @pytest.mark.parametrize(
        ("route", "said"),
        [
            ("stand_ins: [usuall]", 'Did you mean "usual"?'),
            ("stand_ins_after: 10m", "stand_ins, whom to ask then, is missing"),
            ("stand_ins: usual, human_only: yes", "only people may answer here"),
            ("stand_ins: usual, stand_ins_after: 2h, expires_in: 1h", "has already expired"),
        ],
    )
    def test_what_contradicts_itself_is_refused(self, route, said):
        error = refused(f"providers: {{usual: {{use: default}}}}\nroutes: {{default: {{{route}}}}}\n")
        assert error.line == 2 and said in error.message

    def test_an_agent_can_be_for_people_only(self):
        assert read("agents: {a: {use: langgraph, human_only: yes}}\n").agents["a"].human_only

    def test_an_agent_can_do_without_people(self):
        agents = read("agents: {a: {use: langgraph, hitl_enabled: no}, b: {use: langgraph}}\n").agents
        assert (agents["a"].hitl_enabled, agents["b"].hitl_enabled) == (False, True)
        assert agents["a"].options == {}

    @pytest.mark.parametrize("use", ["langgraph", "langgraph-server", "mine.agents:Own"])
    def test_any_agent_can_have_a_route_which_its_adapter_need_not_know(self, use):
        agent = read(f"agents: {{a: {{use: '{use}', route: night}}}}\nroutes: {{night: {{}}}}\n").agents["a"]
        assert (agent.route, agent.options) == ("night", {})

    def test_the_default_route_can_be_named_although_it_stands_nowhere(self):
        assert read("agents: {a: {use: langgraph, route: default}}\n").agents["a"].route == "default"

    def test_an_agents_route_must_be_there(self):
        error = refused("agents:\n  a:\n    use: langgraph\n    route: nihgt\nroutes: {night: {}}\n")
        assert (error.line, error.message) == (
            4, 'agents.a.route: there is no route "nihgt". Did you mean "night"?'
        )  # fmt: skip
