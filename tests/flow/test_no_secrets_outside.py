"""Law 11 by experiment: a gateway as a process, a far side that fails and repeats what it was sent.

Everything that comes out is searched for every secret that went in: the log, the errors of the API, of the
commands and of the pages, the counters.
"""

import contextlib
import http.server
import json
import re
import socket
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flow.test_cli import Served, serve

pytestmark = pytest.mark.needs_extra("telegram", "whatsapp", "email", "langgraph")
QUESTION, CONTEXT, ANSWER = "canary-question", "canary-context", "canary-answer"
NUMBER, CHAT, MAIL = "+43660555123", "987654321", "canary@example.org"
KEY, TOKEN, PASSWORD, PATH = "canary-api-key", "canary-token", "canary-password", "canary-path"
FAILED = ("telegram", "whatsapp", "email", "called")  # each says so in the log
SECRETS = [QUESTION, CONTEXT, ANSWER, NUMBER, CHAT, MAIL, KEY, TOKEN, PASSWORD, PATH]
AGENT = """
import asyncio, warnings
from answerback.agent import Agent, Finished

class Fails(Agent):
    async def start(self, thread, input, run=""):
        warnings.warn(f"warned of {input}")
        self.task = asyncio.create_task(self.forgotten(input))
        await asyncio.wait([self.task])
        del self.task
        try:
            raise KeyError(input)
        except KeyError as error:
            raise RuntimeError(f"start {input}") from error
    async def forgotten(self, input):
        raise ValueError(f"a task {input}")
    async def pending(self, thread):
        return ()
    async def resume(self, thread, target, answer, *, again=False):
        return Finished("")
    async def retry(self, thread):
        raise RuntimeError("retry")
    async def cancel(self, thread):
        return None

def tell(**given):
    raise ValueError(str(given))
"""


def configuration(base: str, smtp: int) -> str:
    login = f"host: 127.0.0.1, port: {smtp}, security: plain, username: me, password: {PASSWORD}"
    return f"""
listen: 127.0.0.1:0
metrics: {{listen: 127.0.0.1:0}}
data_dir: var
api_keys: [{{name: ops, key: {KEY}}}]
outgoing: {{allow: [127.0.0.1]}}
agents:
  mine: {{use: "far_agent:Fails"}}
  far: {{use: langgraph-server, url: "{base}", assistant: agent, api_key: {PASSWORD}}}
providers:
  telegram: {{use: telegram, token: "12345:{TOKEN}", api_base: "{base}"}}
  whatsapp: {{use: whatsapp, account_sid: AC{"0" * 32}, auth_token: {TOKEN}, sender: "+15550001111",
    api_base: "{base}", content_sid: HX{"0" * 32}}}
  email: {{use: email, address: agent@example.org, smtp: {{{login}}}}}
  hook: {{use: webhook, url: "{base}/{PATH}?t={TOKEN}", secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw}}
  called: {{use: callback, function: "far_agent:tell"}}
contacts:
  ana: {{name: Ana, addresses: {{telegram: "{CHAT}", whatsapp: "{NUMBER}", email: {MAIL},
    hook: "{NUMBER}", called: "{NUMBER}"}}}}
routes:
  default: {{ask: [ana], providers: [telegram, whatsapp, email, hook, called], at_once: true}}
"""


class Repeats(http.server.BaseHTTPRequestHandler):
    """Answers each request with a status, and in every field that a service has with what was sent."""

    status = 400

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers.get("content-length") or 0)).decode("utf-8", "replace")
        all_of_it = f'"{urllib.parse.unquote_plus(sent)}" {self.path} {dict(self.headers)}'
        named = ("description", "message", "detail", "error", "title")
        body = json.dumps({"ok": False, "error_code": self.status} | dict.fromkeys(named, all_of_it)).encode()
        self.send_response(self.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_DELETE = do_PATCH = do_POST

    def log_message(self, *given: object) -> None:
        """Nothing: it is the gateway's log that counts."""


@contextlib.contextmanager
def far_side(status: int) -> Iterator[str]:
    """Its address; 0 is a place where nobody listens."""
    handler = type("Handler", (Repeats,), {"status": status})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        base = f"http://127.0.0.1:{server.server_address[1]}"
        if status:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield base
            server.shutdown()
            return
    yield base


@contextlib.contextmanager
def refuses_logins() -> Iterator[int]:
    """The port of a mail server that repeats what a login said."""
    listener = socket.create_server(("127.0.0.1", 0))

    def talk(connection: socket.socket) -> None:
        with connection, connection.makefile("rwb") as lines, contextlib.suppress(OSError):
            lines.write(b"220 here\r\n")
            lines.flush()
            for line in lines:
                hello = line.upper().startswith(b"EHLO")
                no = b"535 5.7.8 " + line.strip() + f" {PASSWORD} {MAIL}\r\n".encode()
                lines.write(b"250-here\r\n250 AUTH PLAIN LOGIN\r\n" if hello else no)
                lines.flush()

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=talk, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()


def call(url: str, body: object = None, key: str = KEY) -> str:
    """What an HTTP request is answered with, whatever that is."""
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    try:
        request = urllib.request.Request(url, data, headers)  # noqa: S310 - it is on loopback
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.read().decode()


def ask(url: str, callback: str) -> tuple[str, str]:
    """The id of a question, and the token of its form."""
    asked = json.loads(
        call(f"{url}/v1/interactions", {"question": QUESTION, "context": CONTEXT, "callback_url": callback})
    )
    return asked["id"], asked["form_url"].rpartition("/")[2]


def refused(url: str, id: str, token: str) -> list[str]:
    """What is said of requests that are wrong beside a secret."""
    asks = f"{url}/v1/interactions"
    return [
        call(
            asks,
            {"question": 5, "questions": QUESTION, "callback_url": f"ftp://me:{PASSWORD}@x", "no": ANSWER},
        ),
        call(asks, {"question": QUESTION, "expires_in": ANSWER}),
        call(asks, {"question": QUESTION, "callback_url": f"http://me:{PASSWORD}@127.0.0.1/"}),
        call(asks, f'{{"question": "{QUESTION}'.encode()),
        call(f"{asks}/{id}/respond", {"respons": ANSWER}),
        call(f"{url}/v1/contacts", {"id": "x", "name": 5, "addresses": {"telegram": [NUMBER]}}),
        call(f"{url}/v1/runs", {"agent": "nobody", "input": ANSWER}),
        call(f"{url}/v1/runs", key=f"{KEY}x"),
        call(f"{url}/f/{token}x"),
        call(f"{url}/in/telegram", {"text": ANSWER}),
    ]


def told(here: Served, id: str) -> list[str]:
    """What a gateway and its commands say of how it is."""
    metrics = re.search(r"metrics at (\S+)", here.log())
    paths = ("/-/healthy", "/-/ready", "/v1/dead-letters", "/v1/providers", "/v1/agents")
    commands = (["dead-letters", "list"], ["check", "--online", "--debug"], ["providers"], ["agents"],
        ["interactions", "explain", id], ["runs", "list"])  # fmt: skip
    done = [here.do(*command, ANSWERBACK_KEY=KEY) for command in commands]
    return [
        *(call(here.url + path) for path in paths),
        call(metrics[1]) if metrics else "",
        *(each.out + each.err for each in done),
    ]


@pytest.mark.parametrize("status", [0, 200, 400, 401, 429, 500])
def test_nothing_that_is_secret_comes_out_while_everything_fails(status: int, tmp_path: Path) -> None:
    with far_side(status) as base, refuses_logins() as smtp:
        (tmp_path / "answerback.yaml").write_text(configuration(base, smtp))
        (tmp_path / "far_agent.py").write_text(AGENT)
        here = serve(tmp_path, "--debug")
        try:
            id, token = ask(here.url, f"{base}/{PATH}?t={TOKEN}")
            runs = f"{here.url}/v1/runs"
            call(runs, {"agent": "far", "input": ANSWER})
            call(runs, {"agent": "mine", "input": ANSWER})
            while "start raised" not in here.log():
                call(f"{here.url}/-/healthy")
            call(f"{here.url}/v1/notices", {"text": QUESTION})
            said = refused(here.url, id, token)
            call(f"{here.url}/v1/interactions/{id}/respond", {"response": ANSWER})
            said += told(here, id)
        finally:
            log = here.stop().err
    for failed in (*FAILED, "start raised", "UserWarning", "never retrieved"):
        assert failed in log, failed
    everything = {"log": log, **{f"{place}": text for place, text in enumerate(said)}}
    found = [
        (where, line[:300])
        for where, text in everything.items()
        for line in text.splitlines()
        if any(secret in line for secret in [*SECRETS, token])
    ]
    assert found == []
