"""starting: `run AGENT …` starts one for whoever the configuration lets."""

from answerback.case import Case, Effect, said
from answerback.model import Json, Outcome, Question, QuestionKind
from answerback.read import Unclear, read
from answerback.render import called
from answerback.routing import route_of
from answerback.settings import Plugin
from answerback.store import interactions, runs

MESSAGES = "messages"  # the key under which chat models expect what was said, each with its role
_TEXT = Question("text", "", QuestionKind.TEXT)


def start(case: Case, rest: str) -> Effect | None:
    """Start the agent that `rest` begins with; None: it names none that this person may start.

    The run is due at once and has no worker yet: whoever looks first takes it up, so that it starts once,
    however often we die. What it asks goes to the person who started it, who is its user, and so does how it
    ends.
    """
    name, _, text = rest.partition(" ")
    agent = next((each for each in startable(case) if each.name.lower() == name.lower()), None)
    if agent is None:
        return None
    text = text.strip()
    tx, person = case.tx, case.person
    assert person is not None  # nobody else may start anything
    unfit = read(_TEXT, text, language=person.language, timezone=person.timezone, now=tx.now)
    if text and isinstance(unfit, Unclear):
        return said(case, unfit.key, unfit.args, Outcome.ASKED_AGAIN)
    route = route_of(case.context.settings, "", (person.id,), agent=agent.name)
    id = interactions.new_id()
    row = case.context.outbox.conversation(tx, case.here, "run_started", {"who": called(agent.name)})
    thread, user = interactions.new_id(), person.id
    runs.add(tx, id, agent.name, thread, _input(agent, text), route, tx.now, told=row["id"], user=user)
    return Effect(Outcome.COMMAND, [row], later=True)


def startable(case: Case) -> list[Plugin]:
    """The agents that this person may start from here: not where their name is not known."""
    person = case.person
    if person is None or not (case.reply.private or case.here["address_id"]):
        return []
    return [each for each in case.context.settings.agents.values() if person.id in each.may_start]


def unknown(case: Case, rest: str) -> Effect:
    """Nothing that they may start is called so: say what is."""
    names = ", ".join(each.name for each in startable(case))
    name = rest.partition(" ")[0]
    if name:
        return said(case, "unknown_agent", {"text": name})
    return said(case, "run_which" if names else "run_none", {"options": names})


def _input(agent: Plugin, text: str) -> Json:
    if not text:
        return {}
    if agent.input_key == MESSAGES:
        return {MESSAGES: [{"role": "user", "content": text}]}
    return {agent.input_key: text}
