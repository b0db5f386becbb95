"""Who would be asked on a route, where and when, told without asking: the same as what then happens."""

import asyncio
from dataclasses import replace

import httpx
import pytest
from pydantic import SecretStr

from answerback.agent import Agent, Change, Look
from answerback.ask import AskRequest
from answerback.cli.site import site
from answerback.errors import ConfigurationError, NotFound, Undeliverable
from answerback.model import Address, Contact, StandsIn
from answerback.plans import Plan
from answerback.settings import ApiKey, Hitl, Plugin, Route
from answerback.testing import ManualClock, MemoryProvider, ScriptedAgent, asks
from tests.support.databases import Database
from tests.support.described import through
from tests.support.gateway import Gateway, gateway

WAYS = ("first", "second", "third")
ANA = Contact("ana", "Ana", addresses=tuple(Address(name, f"ana on {name}", "a") for name in WAYS))
BEN = Contact("ben", "Ben", addresses=(Address("elsewhere", "b", "b"),))
ROUTE = Route("default", ask=("ana",), providers=("third", "first", "second"), expires_in=3600.0)
DAY_BREAK = 1_767_225_600_000_000  # 2026-01-01 00:00 UTC
KEYS = (ApiKey("ops", SecretStr("all")), ApiKey("asker", SecretStr("asks"), scopes=frozenset({"ask"})))


def services() -> dict[str, MemoryProvider]:
    return {name: MemoryProvider(name) for name in WAYS}


def planned(
    database: Database,
    *routes: Route,
    people: tuple[Contact, ...] = (ANA, BEN),
    ran: tuple[Agent, ...] = (),
    **more: object,
):
    found = {route.name: route for route in routes or (ROUTE,)}
    contacts = {person.id: person for person in people}
    return gateway(database, *ran, **{"providers": services(), "contacts": contacts, "routes": found} | more)


def places(plan: Plan) -> dict[str, list[str]]:
    return {person.contact: [way.provider for way in person.ways] for person in plan.people}


async def test_the_order_is_the_one_in_which_somebody_is_then_asked(database: Database) -> None:
    tried: list[str] = []

    class Gone(MemoryProvider):
        async def send(self, message):
            tried.append(self.name)
            raise Undeliverable("blocked", address_dead=True)

    async with planned(database, providers={name: Gone(name) for name in WAYS}) as g:
        plan = await g.app.planner.of("default")
        assert tried == [] and places(plan) == {"ana": ["third", "first", "second"]}
        await g.app.asker.ask(AskRequest((asks("Which?"),)))
        await g.app.idle()
        assert tried == places(plan)["ana"]


async def test_where_nothing_arrives_any_more_is_tried_last_and_marked(database: Database) -> None:
    async with planned(database) as g:
        g.app.providers["third"].failures.append(Undeliverable("blocked", address_dead=True))
        await g.app.asker.ask(AskRequest((asks("Which?"),)))
        await g.app.idle()
        (ana,) = (await g.app.planner.of("default")).people
        assert [(way.provider, way.reachable) for way in ana.ways] == [
            ("first", True), ("second", True), ("third", False)
        ]  # fmt: skip


async def test_law_5_planning_asks_nobody_and_changes_nothing(database: Database) -> None:
    async with planned(database) as g:
        before = await rows(g)
        await g.app.planner.of("default")
        await g.app.idle()
        assert await rows(g) == before
        assert not any(g.app.providers[name].given for name in WAYS)


async def rows(g: Gateway) -> tuple[int, ...]:
    """How much there is of what asking would leave."""
    pages = await g.app.reader.interactions(None, 50, None), await g.app.auditor.entries(50, None)
    return tuple(len(page.items) for page in pages)


@pytest.mark.parametrize(
    ("hours", "expires_in", "later"),
    [(0.0, 86400.0, 7 * 3600), (0.0, None, 7 * 3600), (12.0, 86400.0, 0), (6.5, 600.0, 0)],
    ids=["quiet", "without a deadline", "by day", "a deadline that does not wait"],
)
async def test_in_quiet_hours_they_are_asked_when_these_end_if_the_deadline_waits_for_that(
    database: Database, hours: float, expires_in: float | None, later: int
) -> None:
    ana = replace(ANA, quiet_hours="22:00-07:00")
    clock = ManualClock(DAY_BREAK + round(hours * 3600e6))
    async with planned(database, replace(ROUTE, expires_in=expires_in), people=(ana, BEN), clock=clock) as g:
        plan = await g.app.planner.of("default")
        assert plan.people[0].at - plan.now == later * 1_000_000
        await g.app.asker.ask(AskRequest((asks("Which?"),)))
        await g.app.idle()
        assert bool(g.app.providers["third"].given) is not bool(later)


async def test_who_has_no_address_on_the_route_cannot_be_reached(database: Database) -> None:
    async with planned(database, replace(ROUTE, ask=("ana", "ben"))) as g:
        assert places(await g.app.planner.of("default"))["ben"] == []


async def test_others_can_be_named_instead_and_must_be_known(database: Database) -> None:
    async with planned(database) as g:
        assert list(places(await g.app.planner.of("default", ("ben",)))) == ["ben"]
        with pytest.raises(NotFound, match=r"There is no contact 'carl'\. Known: ana, ben"):
            await g.app.planner.of("default", ("carl",))
        with pytest.raises(NotFound, match=r"There is no route 'ops'\. Known: default"):
            await g.app.planner.of("ops")


class Program(MemoryProvider):
    """Answers in place of people."""

    stand_in = StandsIn.PROGRAM


@pytest.mark.parametrize(
    ("human_only", "hitl", "people", "first", "after"),
    [
        (False, Hitl(), ["ana"], "", ("llm",)),
        (False, Hitl(mode="llm"), ["ana"], "llm", ()),
        (False, Hitl(enabled=False), [], "", ("llm",)),
        (True, Hitl(mode="llm"), ["ana"], "", ()),
    ],
    ids=["people first", "the mode first", "no people", "only people"],
)
async def test_stand_ins_are_told_where_they_are_asked(
    database: Database, human_only: bool, hitl: Hitl, people: list[str], first: str, after: tuple[str, ...]
) -> None:
    route = replace(ROUTE, stand_ins=("llm",), stand_ins_after=600.0, human_only=human_only)
    async with planned(database, route, providers={**services(), "llm": Program("llm")}, hitl=hitl) as g:
        plan = await g.app.planner.of("default")
        assert ([*places(plan)], plan.first, plan.stand_ins) == (people, first, after)
        assert (plan.human_only, plan.stand_ins_after) == (human_only, 600.0)


async def test_an_agent_has_a_route_of_its_own_where_a_run_names_none(database: Database) -> None:
    routes = [Route("default", ("ana",), WAYS), Route("night", ("ben",), WAYS)]
    agents = {"own": Plugin("own", "langgraph", route="night"), "other": Plugin("other", "langgraph")}
    ran = (ScriptedAgent(asks("Which?"), name="own"), ScriptedAgent(asks("Which?"), name="other"))
    async with planned(database, *routes, ran=ran, agents=agents) as g:
        plans = [await g.app.planner.of(name) for name in ("default", "night")]
        assert [plan.agents for plan in plans] == [("other",), ("own",)]
        for agent, route in (("own", ""), ("other", ""), ("own", "default")):
            await g.run(agent, route=route)
        for agent in ("own", "other", "nobody"):
            await g.app.asker.ask(AskRequest((asks("Which?"),), agent=agent))
        asked = (await g.app.reader.interactions()).items
        assert [each.route["ask"][0] for each in asked] == ["ben", "ana", "ana", "ben", "ana", "ana"]


class Shared(ScriptedAgent):
    """Somebody else has started one of its threads."""

    async def look(self, cursor: str) -> Look:
        waiting = [(each.interrupt_id, each.digest) for each in await self.pending("theirs")]
        return Look((Change("theirs", tuple(waiting)),))


async def test_what_others_started_is_asked_on_the_route_of_the_agent(database: Database) -> None:
    routes = [Route("default", ("ana",), WAYS), Route("night", ("ben",), WAYS)]
    agent = Shared(asks("Which?"), name="own")
    await agent.start("theirs", None)
    agents = {"own": Plugin("own", "langgraph", route="night")}
    async with planned(database, *routes, ran=(agent,), agents=agents) as g:
        await g.app.adopter.look("own")
        (record,) = (await g.app.reader.interactions()).items
        assert record.route["ask"] == ["ben"]


class TestApi:
    def client(self, g: Gateway, key: str = "all") -> httpx.AsyncClient:
        return through(
            site(g.app),
            "http://here",
            headers={"Authorization": f"Bearer {key}"},
        )

    async def test_a_route_is_told_with_all_that_would_happen(self, database: Database) -> None:
        urgent = replace(ROUTE, name="urgent", at_once=True, reminders=(60.0, 300.0), expires_in=None)
        async with planned(database, ROUTE, urgent, api_keys=KEYS) as g, self.client(g) as http:
            every = (await http.get("/v1/routes")).json()["items"]
            assert [plan["route"] for plan in every] == ["default", "urgent"]
            told = (await http.get("/v1/routes/urgent")).json()
            assert told == every[1]
            (ana,) = told.pop("people")
            assert told == {
                "route": "urgent", "agents": [], "at_once": True, "first": "", "stand_ins": [],
                "stand_ins_after": None, "reminders": [60.0, 300.0], "expires_in": None, "on_expire": "auto",
                "human_only": False, "fallback": "",
            }  # fmt: skip
            ways = [(way["provider"], way["id"], way["works"]) for way in ana.pop("ways")]
            assert ways == [(name, f"ana on {name}", True) for name in ("third", "first", "second")]
            assert (ana["contact"], ana["name"], ana["language"], ana["quiet"]) == ("ana", "Ana", "en", False)

    async def test_a_provider_that_does_not_work_is_marked(self, database: Database) -> None:
        class Refused(MemoryProvider):
            async def open(self):
                raise ConfigurationError("its token was refused")

        providers = {**services(), "first": Refused("first")}
        async with planned(database, api_keys=KEYS, providers=providers) as g, self.client(g) as http:
            while "starting" in g.app.intake.state.values():  # noqa: ASYNC110 (each is opened by a task)
                await asyncio.sleep(0)
            (ana,) = (await http.get("/v1/routes/default")).json()["people"]
            works = {way["provider"]: way["works"] for way in ana["ways"]}
            assert works == {"third": True, "first": False, "second": True}

    async def test_for_others_and_for_those_who_may_not(self, database: Database) -> None:
        async with planned(database, api_keys=KEYS) as g, self.client(g) as http:
            told = (await http.get("/v1/routes/default?ask=ben,ana")).json()
            assert [person["contact"] for person in told["people"]] == ["ben", "ana"]
            missing = await http.get("/v1/routes/nightly")
            assert (missing.status_code, missing.json()["detail"]) == (
                404, "There is no route 'nightly'. Known: default."
            )  # fmt: skip
            assert (await http.get("/v1/routes/default?ask=carl")).status_code == 404
            async with self.client(g, "asks") as other:
                assert (await other.get("/v1/routes")).status_code == 403
