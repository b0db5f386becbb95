"""The shape of the file, key by key: what may stand where, and as what it is read."""

import re
import zoneinfo
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator

from answerback import signing
from answerback.allowed import Allowed
from answerback.http import fits_header
from answerback.model import OnExpire
from answerback.provider import Settings as Shape
from answerback.settings import databases, sentences, units
from answerback.settings.values import HUMAN, FormAuth

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_QUIET = re.compile(rf"({_CLOCK})-({_CLOCK})")
_SHORTEST_SECRET = 16


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError("a name is made of letters, digits, '-' and '_', at most 64.")
    return text


def _one_line(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise ValueError("this must be one line, without blanks around it.")
    return text


def _language(text: str) -> str:
    if not _LANGUAGE.fullmatch(text):
        raise ValueError("this is not a language tag (BCP 47), such as en or de-AT.")
    return text


def _timezone(text: str) -> str:
    try:
        zoneinfo.ZoneInfo(text)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the folder "Europe"
        zones = zoneinfo.available_timezones()
        cities = {zone.rpartition("/")[2]: zone for zone in sorted(zones)}
        match = sentences.closest(text, zones) or cities.get(sentences.closest(text, cities))
        hint = f'Did you mean "{match}"?' if match else "It looks like Europe/Vienna."
        raise ValueError(f"there is no such time zone. {hint}") from None
    return text


def _quiet_hours(text: str) -> str:
    match = _QUIET.fullmatch(text)
    if text and (match is None or match[1] == match[2]):
        raise ValueError("quiet hours are written from-to, in the contact's time zone: 22:00-07:00.")
    return text


def _long_enough(secret: SecretStr) -> SecretStr:
    if len(secret.get_secret_value()) < _SHORTEST_SECRET:
        raise ValueError(f"this needs {_SHORTEST_SECRET} characters or more: who guesses it has every link.")
    return secret


def _header_safe(secret: SecretStr) -> SecretStr:
    if not fits_header(secret.get_secret_value()):
        raise ValueError("a key is sent in a header: use printable ASCII without blanks.")
    return secret


def _sha256(text: str) -> str:
    if text and not re.fullmatch(r"[0-9A-Fa-f]{64}", text):
        raise ValueError("this is not a SHA-256: 64 hexadecimal digits.")
    return text.lower()


def _database(secret: SecretStr) -> SecretStr:
    text = secret.get_secret_value()
    if text != "sqlite" and not re.match(r"postgres(ql)?://", text):
        raise ValueError("this is neither sqlite nor a URL such as postgresql://user@host/name.")
    if text != "sqlite" and not databases.is_readable(text):
        raise ValueError(databases.ENCODE)
    return SecretStr(re.sub(r"^postgres://", "postgresql://", text))


def _receivers(entries: tuple[str, ...]) -> tuple[str, ...]:
    for entry in entries:
        try:
            Allowed([entry])
        except ValueError:
            raise ValueError(
                f'"{entry}" is neither a host, *.domain nor a network such as 10.1.0.0/16.'
            ) from None
    return entries


def _signs(secret: SecretStr) -> SecretStr:
    signing.key_of(secret.get_secret_value())
    return secret


def _function(path: str) -> str:
    module, colon, name = path.partition(":")
    named = colon and all(part.isidentifier() for part in (*module.split("."), *name.split(".")))
    if not named or module.endswith(".py"):
        raise ValueError("this is not of the form my_package.module:function.")
    return path


def _at_least_a_day(seconds: float | None) -> float | None:
    if seconds is not None and seconds < 86_400:
        raise ValueError("keep what was said for a day at least, such as 30d.")
    return seconds


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _as_id(value: Any) -> Any:
    return {"id": value} if isinstance(value, str) else value


Name = Annotated[str, AfterValidator(_name)]
Line = Annotated[str, AfterValidator(_one_line)]
Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]
Duration = Annotated[float, BeforeValidator(units.duration)]
Size = Annotated[int, BeforeValidator(units.size)]


class ApiKeyShape(Shape):
    name: Name
    key: Annotated[SecretStr, AfterValidator(_header_safe)] | None = None
    key_sha256: Annotated[str, AfterValidator(_sha256)] = ""
    scopes: Annotated[tuple[Literal["ask", "read", "answer", "admin"], ...], BeforeValidator(_listed)] = ()
    agents: Names = ()
    contact: str = ""

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.key is None) == (not self.key_sha256):
            raise ValueError("give the key one way: key, key_file or key_sha256.")
        return self


class AddressShape(Shape):
    id: Line = ""
    place: Line = ""

    @model_validator(mode="after")
    def _place_needs_id(self) -> Self:
        if self.place and not self.id:
            raise ValueError("a place says where messages go; id, who may answer there, is missing.")
        return self


class ContactShape(Shape):
    name: Line = ""
    language: Annotated[str, AfterValidator(_language)] = "en"
    timezone: Annotated[str, AfterValidator(_timezone)] = "UTC"
    quiet_hours: Annotated[str, AfterValidator(_quiet_hours)] = ""
    addresses: dict[str, Annotated[AddressShape, BeforeValidator(_as_id)]] = Field(default={})


class RouteShape(Shape):
    ask: Names | None = None
    providers: Names | None = None
    expires_in: Duration | None = None
    on_expire: OnExpire = OnExpire.AUTO
    reminders: Annotated[tuple[Duration, ...], BeforeValidator(_listed)] = ()
    at_once: bool = False
    form_auth: FormAuth | None = None
    delegates: Names = ()
    stand_ins: Names = ()
    stand_ins_after: Duration | None = None
    human_only: bool = False

    @model_validator(mode="after")
    def _agree(self) -> Self:
        if self.human_only and self.stand_ins:
            raise ValueError("only people may answer here (human_only), so there can be no stand_ins.")
        if self.stand_ins_after is not None and not self.stand_ins:
            raise ValueError("stand_ins_after says when to ask; stand_ins, whom to ask then, is missing.")
        return self


class HitlShape(Shape):
    enabled: bool = True
    mode: Name = HUMAN
    max_interactions: Annotated[int, Field(ge=1)] | None = None
    may_approve: bool = False


class LimitsShape(Shape):
    body_bytes: Size = 1 << 20
    answer_bytes: Size = 256 << 10
    attachment_bytes: Size = 20 << 20
    answer_depth: Annotated[int, Field(ge=1, le=200)] = 64


class OutgoingShape(Shape):
    allow: Annotated[Names, AfterValidator(_receivers)] = ()
    signing_secret: Annotated[SecretStr, AfterValidator(_signs)] | None = None


class MetricsShape(Shape):
    listen: Annotated[str, AfterValidator(units.listen)] | None = None


class WorkerShape(Shape):
    """What any agent may say besides `use` and the options of its adapter."""

    worker: bool = True
    python: Line = ""
    memory_limit: Size = 0
    human_only: bool = False
    hitl_enabled: bool = True
    route: str = ""
    may_start: Names = ()
    input_key: Line = "text"

    @model_validator(mode="after")
    def _of_a_worker(self) -> Self:
        if not self.worker and (self.python or self.memory_limit):
            raise ValueError("python and memory_limit are for a worker: drop them, or worker: false.")
        return self


class FileShape(Shape):
    public_url: Annotated[str, AfterValidator(units.base_url)] | None = None
    listen: Annotated[str, AfterValidator(units.listen)] = "127.0.0.1:8700"
    data_dir: Line = "var"
    database: Annotated[SecretStr, AfterValidator(_database)] = SecretStr("sqlite")
    secret: Annotated[SecretStr, AfterValidator(_long_enough)] | None = None
    api_keys: tuple[ApiKeyShape, ...] = ()
    authenticate: Annotated[str, AfterValidator(_function)] = ""
    agents: dict[Name, dict[str, Any]] = Field(default={})
    providers: dict[Name, dict[str, Any]] = Field(default={})
    contacts: dict[Name, ContactShape] = Field(default={})
    routes: dict[Name, RouteShape] = Field(default={})
    hitl: HitlShape = HitlShape()
    form_auth: FormAuth | None = None
    limits: LimitsShape = LimitsShape()
    retention: Annotated[Duration | None, AfterValidator(_at_least_a_day)] = None
    outgoing: OutgoingShape = OutgoingShape()
    metrics: MetricsShape = MetricsShape()
