"""The configuration that the demo runs with, as anybody would write it: every address is the sandbox's."""

from typing import Any

TELEGRAM = """\
  telegram: {{use: telegram, token: "{telegram[token]}", api_base: "{telegram[api_base]}"}}
"""
WHATSAPP = """\
  whatsapp:
    use: whatsapp
    account_sid: "{whatsapp[account_sid]}"
    auth_token: "{whatsapp[auth_token]}"
    sender: "{whatsapp[sender]}"
    content_sid: "{whatsapp[content_sid]}"
    confirm_content_sid: "{whatsapp[confirm_content_sid]}"
    api_base: "{whatsapp[api_base]}"
"""
MAIL = """\
  email:
    use: email
    name: Research
    address: "{mail[address]}"
    authserv_id: "{mail[authserv_id]}"
    smtp:
      {{host: "{mail[smtp][host]}", port: {mail[smtp][port]}, security: plain,
       username: "{mail[username]}", password: "{mail[password]}"}}
    imap:
      {{host: "{mail[imap][host]}", port: {mail[imap][port]}, security: plain,
       username: "{mail[username]}", password: "{mail[password]}"}}
"""
HEAD = """\
# What the demo ran with. Telegram, WhatsApp and mail are the sandbox: phones in the browser.
listen: {listen}
data_dir: .
agents:
  research: {{use: langgraph, graph: "answerback_agents.research:graph"}}
providers:
"""
CONSOLE = """\
  console: {{use: "answerback_demo.console:Console"}}
"""
TAIL = """\
contacts:
{contacts}
routes:
  default: {{ask: [alice, bob], at_once: true}}
"""
PROVIDERS = {"telegram": TELEGRAM, "whatsapp": WHATSAPP, "mail": MAIL}
ADDRESSES = {"telegram": ("telegram", "id"), "whatsapp": ("whatsapp", "whatsapp"), "mail": ("email", "mail")}


def described(endpoints: dict[str, Any], url: str, apps: tuple[str, ...], *, terminal: bool = True) -> str:
    """The YAML for a gateway at `url` that reaches people by these apps, and the first also in the terminal.

    `endpoints` is what the sandbox says of itself (GET /sandbox).
    """
    whole = HEAD + "".join(PROVIDERS[app] for app in apps) + (CONSOLE if terminal else "") + TAIL
    people = endpoints["people"]
    contacts = "\n".join(_contact(person, apps, here=terminal and person is people[0]) for person in people)
    return whole.format(listen=url.removeprefix("http://"), contacts=contacts, **endpoints)


def _contact(person: dict[str, Any], apps: tuple[str, ...], *, here: bool) -> str:
    places = [f'{provider}: "{person[key]}"' for provider, key in map(ADDRESSES.__getitem__, apps)]
    name, listed = person["name"], ", ".join(places + ["console: here"] * here)
    return f"  {name.lower()}: {{name: {name}, addresses: {{{listed}}}}}"
