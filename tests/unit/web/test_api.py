"""The HTTP API: what each endpoint takes, answers and refuses."""

import json

import pytest
from pydantic import SecretStr

from answerback.errors import AgentUnavailable, AlreadyAnswered, Closed, Conflict, StoreUnavailable
from answerback.model import Action, Choice, InteractionStatus, OnExpire, Question, QuestionKind
from answerback.settings import ApiKey
from tests.unit.web.fakes import (
    CHOICE,
    NOW,
    PUBLIC,
    TOKEN,
    World,
    answered,
    digest,
    interaction,
    run,
)

ONE = "/v1/interactions/0193-a1"
SETTLED = ("settled_as", "answered_by", "answered_via", "answered_at")
LATE = {"respond": {"response": "coding"}, "cancel": {}}


def is_problem(response, status: int) -> dict:
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert body["status"] == status
    assert body["type"].startswith("urn:answerback:problem:") and body["title"] and body["detail"]
    return body


class TestRuns:
    async def test_a_run_is_started_and_accepted(self):
        world = World()
        async with world.client() as client:
            response = await client.post(
                "/v1/runs", json={"agent": "research", "input": {"topic": "PSR"}, "ask": "ana"}
            )
        assert response.status_code == 202
        assert response.json() == {
            "id": "run-1",
            "agent": "research",
            "thread_id": "t-1",
            "status": "running",
        }
        [request] = world.runner.started
        assert request.input == {"topic": "PSR"} and request.ask == ("ana",) and not request.replace

    @pytest.mark.parametrize(("given", "seconds"), [(90, 90.0), ("10m", 600.0), (None, None)])
    async def test_a_run_sets_the_deadline_of_its_questions(self, given, seconds):
        world = World()
        async with world.client() as client:
            await client.post("/v1/runs", json={"agent": "research", "expires_in": given})
        [request] = world.runner.started
        assert request.expires_in == seconds

    async def test_it_is_started_for_a_user(self):
        world = World()
        world.runner.one = run(user="u-17")
        async with world.client() as client:
            await client.post("/v1/runs", json={"agent": "research", "user": "u-17"})
            is_problem(await client.post("/v1/runs", json={"agent": "research", "user": "u" * 201}), 422)
            shown = await client.get("/v1/runs/run-1")
        [request] = world.runner.started
        assert (request.user, shown.json()["user"]) == ("u-17", "u-17")

    async def test_a_deadline_that_is_none_starts_nothing(self):
        world = World()
        async with world.client() as client:
            is_problem(await client.post("/v1/runs", json={"agent": "research", "expires_in": "soon"}), 422)
        assert not world.runner.started

    async def test_a_waiting_thread_is_a_conflict(self):
        world = World()
        world.runner.refusal = Conflict("This thread is waiting. Answer it, or start with replace: true.")
        async with world.client() as client:
            body = is_problem(await client.post("/v1/runs", json={"agent": "research"}), 409)
        assert body["code"] == "conflict" and "replace" in body["detail"]

    async def test_an_agent_that_cannot_be_reached_is_503_with_a_time_to_try_again(self):
        world = World()
        world.runner.refusal = AgentUnavailable("gone")
        async with world.client() as client:
            response = await client.post("/v1/runs", json={"agent": "research"})
        is_problem(response, 503)
        assert int(response.headers["retry-after"]) > 0

    async def test_a_run_shows_its_result(self):
        world = World()
        world.runner.one = run(result={"report": "…", "odd": "\ud800"}, status="completed")
        async with world.client() as client:
            response = await client.get("/v1/runs/run-1")
        assert response.json() == {
            "id": "run-1",
            "agent": "research",
            "thread_id": "t-1",
            "status": "completed",
            "result": {"report": "…", "odd": "\ud800"},
            "error": "",
            "interactions": ["0193-a1"],
            "created_at": "2026-11-21T13:02:00.000000Z",
            "updated_at": "2026-11-21T14:02:00.000000Z",
            "erased_at": None,
            "user": "",
        }

    @pytest.mark.parametrize("act", ["cancel", "retry", "reask"])
    async def test_a_run_can_be_steered(self, act):
        world = World()
        async with world.client() as client:
            response = await client.post(f"/v1/runs/run-1/{act}")
            unknown = await client.post(f"/v1/runs/other/{act}")
        assert response.status_code == 200 and response.json()["id"] == "run-1"
        assert world.runner.steered == [act]
        is_problem(unknown, 404)

    async def test_runs_are_listed_by_pages(self):
        world = World()
        async with world.client() as client:
            response = await client.get("/v1/runs?status=waiting&limit=5&after=run-0")
            wrong = await client.get("/v1/runs?status=asleep")
        assert [item["id"] for item in response.json()["items"]] == ["run-1"]
        assert response.json()["next"] is None
        assert world.runner.steered == ["list waiting 5 run-0"]
        is_problem(wrong, 422)


class TestAsking:
    async def test_a_plain_question_is_asked(self):
        world = World()
        async with world.client() as client:
            response = await client.post(
                "/v1/interactions", json={"question": "Which term?", "expires_in": "10m"}
            )
        assert response.status_code == 201
        assert response.json() == {
            "id": "0193-a1",
            "status": "pending",
            "form_url": f"{PUBLIC}/f/{TOKEN}",
            "expires_at": "2026-11-21T14:12:00.000000Z",
        }
        [request] = world.asker.asked
        assert request.questions == (Question("answer", "Which term?"),)
        assert request.expires_in == 600

    async def test_everything_an_ask_may_say_arrives(self):
        world = World()
        body = {
            "questions": [
                {"question": "Which?", "choices": ["a", {"id": "b", "label": "Bee"}], "free_text": True},
                {"text": "How many?", "type": "number", "min": 1, "max": 3.5, "whole": True, "id": "n"},
                {"kind": "review", "action": {"name": "pay", "args": {"eur": 5}}, "decisions": ["reject"]},
                {"text": "Sure?", "kind": "confirmation", "required": False},
            ],
            "context": "because",
            "title": "Ops",
            "ask": ["ana", "ben"],
            "route": "night",
            "expires_in": 90.5,
            "on_expire": "default",
            "default": {"x": [1]},
            "sensitive": True,
            "state": {"k": None},
            "callback_url": "https://example.org/back",
            "agent": "research",
            "user": "u1",
        }
        async with world.client() as client:
            response = await client.post("/v1/interactions", json=body, headers={"Idempotency-Key": "k-1"})
        assert response.status_code == 201
        [request] = world.asker.asked
        assert request.questions == (
            Question(
                "q1",
                "Which?",
                QuestionKind.CHOICE,
                choices=(Choice("a", "a"), Choice("b", "Bee")),
                free_text=True,
            ),
            Question("n", "How many?", QuestionKind.NUMBER, minimum=1, maximum=3.5, whole=True),
            Question(
                "q3",
                "",
                QuestionKind.REVIEW,
                action=Action("pay", {"eur": 5}),
                decisions=("reject",),
            ),
            Question("q4", "Sure?", QuestionKind.CONFIRM, required=False),
        )
        assert (request.context, request.title, request.route) == ("because", "Ops", "night")
        assert (request.ask, request.agent, request.user) == (("ana", "ben"), "research", "u1")
        assert (request.expires_in, request.on_expire) == (90.5, OnExpire.DEFAULT)
        assert (request.default, request.state, request.sensitive) == ({"x": [1]}, {"k": None}, True)
        assert request.callback_url == "https://example.org/back"
        assert request.idempotency_key == "k-1"

    async def test_the_same_idempotency_key_gets_the_first_result_again(self):
        world = World()
        async with world.client() as client:
            headers = {"Idempotency-Key": "once"}
            first = await client.post("/v1/interactions", json={"question": "x?"}, headers=headers)
            again = await client.post("/v1/interactions", json={"question": "x?"}, headers=headers)
        assert (first.status_code, again.status_code) == (201, 200)
        assert first.json() == again.json()

    @pytest.mark.parametrize(
        ("body", "says"),
        [
            ({}, "Send a question"),
            ({"question": ""}, "A question needs a text: there is nothing to answer."),
            ({"question": " \n"}, "A question needs a text: there is nothing to answer."),
            ({"question": {"text": "a", "choices": ["x", ""]}}, "can be read: number 2 is empty."),
            ({"question": {"text": "a", "choices": [{"id": "x", "label": " "}]}}, "number 1 is empty."),
            ({"question": {"text": "a", "choices": [{"id": "", "label": "X"}]}}, "number 1 has none."),
            ({"question": {"action": {"name": ""}}}, "question.action.name: This must not be empty."),
            ({"question": "a", "questions": ["b"]}, "not both"),
            ({"questions": [{"text": "a", "id": "x"}, {"text": "b", "id": "x"}]}, "same id"),
            ({"question": {"text": "a", "kind": "choice"}}, "needs choices"),
            ({"question": {"text": "a", "choices": ["x", "x"]}}, "same id"),
            ({"question": {"text": "a", "kind": "text", "choices": ["x"]}}, "has no choices"),
            ({"question": {"text": "a", "kind": "chioce"}}, "Did you mean choice?"),
            ({"question": {"text": "a", "kind": "review"}}, "needs the action"),
            ({"question": {"text": "a", "kind": "number", "min": 3, "max": 2}}, "larger than"),
            ({"question": "a", "expires_in": "soon"}, "10m"),
            ({"question": "a", "expires_in": 0}, "more than 0"),
            ({"question": "a", "expires_in": True}, "10m"),
            ({"question": "a", "expires_in": 1e300}, "ten years"),
            ({"question": "a", "on_expire": "explode"}, "on_expire"),
            ({"question": "a", "sensitive": "yes"}, "sensitive"),
            ({"question": {"text": "a", "chioces": ["x"]}}, "Did you mean choices?"),
            ({"question": "a", "contxt": "x"}, "Did you mean context?"),
            ([1], "JSON object"),
        ],
    )
    async def test_what_cannot_be_asked_is_refused_with_a_sentence(self, body, says):
        world = World()
        async with world.client() as client:
            problem = is_problem(await client.post("/v1/interactions", json=body), 422)
        assert says in problem["detail"]
        assert world.asker.asked == []

    async def test_a_refusal_of_the_store_is_503_and_says_that_nothing_was_accepted(self):
        world = World()
        world.asker.refusal = StoreUnavailable("disk full at a path that nobody should see")
        async with world.client() as client:
            response = await client.post("/v1/interactions", json={"question": "x?"})
        body = is_problem(response, 503)
        assert "nothing was accepted" in body["detail"] and "path" not in body["detail"]
        assert response.headers["retry-after"] == "5"


class TestReading:
    async def test_a_completed_interaction_shows_its_answer(self):
        world = World()
        world.reader.record = answered(interaction(CHOICE, expires_at=NOW), "coding")
        async with world.client() as client:
            body = (await client.get(ONE)).json()
        assert body["status"] == "completed" and body["answered_at"] == "2026-11-21T14:02:00.000000Z"
        assert body["answer"]["value"] == "coding" and body["answer"]["values"] == {"which": "coding"}
        assert body["questions"][0]["choices"][1] == {"id": "coding", "label": "Use “coding”"}
        assert "digest" not in body and "route" not in body

    async def test_the_status_is_short(self):
        world = World()
        async with world.client() as client:
            body = (await client.get(f"{ONE}/status")).json()
        assert body == {
            "id": "0193-a1",
            "status": "pending",
            "created_at": "2026-11-21T13:02:00.000000Z",
            "expires_at": None,
            "answered_at": None,
        }

    async def test_interactions_are_listed_by_status_and_page(self):
        world = World()
        async with world.client() as client:
            body = (await client.get("/v1/interactions?status=pending&limit=1&after=0192-ff")).json()
            await client.get("/v1/interactions", params={"user": "ana@example.org & co"})
        assert body["next"] == "0193-a1" and len(body["items"]) == 1
        assert world.reader.looked == [
            ("pending", 1, "0192-ff", ""),
            (None, 50, None, "ana@example.org & co"),
        ]

    @pytest.mark.parametrize(
        "query",
        ["limit=0", "limit=201", "limit=x", "status=open", "after=%00", "after=", "user=%00", "user="],
    )
    async def test_a_page_that_cannot_be_is_refused(self, query):
        world = World()
        async with world.client() as client:
            is_problem(await client.get(f"/v1/interactions?{query}"), 422)

    async def test_waiting_is_bounded(self):
        world = World()
        async with world.client() as client:
            assert (await client.get(f"{ONE}/wait?timeout=5s")).json()["id"] == "0193-a1"
            await client.get(f"{ONE}/wait?timeout=10h")
            is_problem(await client.get(f"{ONE}/wait?timeout=ever"), 422)
        assert world.reader.looked == [("wait", 5.0), ("wait", 120.0)]

    @pytest.mark.parametrize("path", ["", "/status", "/state", "/wait?timeout=1"])
    @pytest.mark.parametrize("id", ["unknown", "%00", "a%20b", "x" * 65])
    async def test_unknown_ids_are_404(self, path, id):
        async with World().client() as client:
            is_problem(await client.get(f"/v1/interactions/{id}{path}"), 404)


class TestResponding:
    async def test_a_response_is_received(self):
        world = World()
        async with world.client() as client:
            response = await client.post(f"{ONE}/respond", json={"response": "coding"})
        assert response.status_code == 200
        assert response.json() == {"status": "success", "message": "Response received"}
        assert world.receiver.responses == [("coding", "ops", "api")]

    async def test_a_key_answers_as_its_contact(self):
        world = World(keys=(ApiKey("ana-phone", SecretStr("another-key"), contact="ana"),))
        async with world.client("another-key") as client:
            await client.post(f"{ONE}/respond", json={"response": "coding"})
        assert world.receiver.responses == [("coding", "ana", "api")]

    async def test_answered_is_409_closed_410_and_what_does_not_fit_422(self):
        world = World()
        async with world.client() as client:
            is_problem(await client.post(f"{ONE}/respond", json={"response": 5}), 422)
            await client.post(f"{ONE}/respond", json={"response": "first"})
            late = is_problem(await client.post(f"{ONE}/respond", json={"response": "second"}), 409)
            world.receiver.refusal = Closed("This question is expired.")
            is_problem(await client.post(f"{ONE}/respond", json={"response": "third"}), 410)
            is_problem(await client.post("/v1/interactions/other/respond", json={"response": "x"}), 404)
        assert late["code"] == "already-answered"

    @pytest.mark.parametrize("act", ["respond", "cancel"])
    async def test_law_2_whoever_comes_too_late_and_may_read_it_is_told_who_answered(self, act):
        world = World()
        world.reader.record = answered(interaction(), "coding", by="ben", via="telegram")
        world.receiver.refusal = world.asker.refusal = AlreadyAnswered("This question was answered.")
        async with world.client() as client:
            late = is_problem(await client.post(f"{ONE}/{act}", json=LATE[act]), 409)
        assert late["code"] == "already-answered"
        assert late["detail"] == "This question was answered through telegram, by ben. Nothing changed."
        assert {name: late[name] for name in SETTLED} == {
            "settled_as": "completed",
            "answered_by": "ben",
            "answered_via": "telegram",
            "answered_at": "2026-11-21T14:02:00.000000Z",
        }
        assert "coding" not in str(late)

    async def test_where_nobody_is_known_to_have_answered_only_the_way_is_told(self):
        world = World()
        world.reader.record = answered(interaction(), "coding", by="")
        world.receiver.refusal = AlreadyAnswered("This question was answered.")
        async with world.client() as client:
            late = is_problem(await client.post(f"{ONE}/respond", json=LATE["respond"]), 409)
        assert late["detail"] == "This question was answered through form. Nothing changed."
        assert late["answered_by"] == ""

    @pytest.mark.parametrize("act", ["respond", "cancel"])
    @pytest.mark.parametrize("ended", ["expired", "cancelled"])
    async def test_of_what_closed_it_is_told_how(self, act, ended):
        world = World()
        world.reader.record = interaction(status=InteractionStatus(ended))
        world.receiver.refusal = world.asker.refusal = Closed(f"This question is {ended}.")
        async with world.client() as client:
            late = is_problem(await client.post(f"{ONE}/{act}", json=LATE[act]), 410)
        assert (late["code"], late["settled_as"]) == ("closed", ended)
        assert late["detail"] == f"This question is {ended}."
        assert "answered_by" not in late

    async def test_what_nobody_has_closed_yet_is_not_said_to_be_settled(self):
        world = World()
        world.receiver.refusal = Closed("The deadline of this question has passed.")
        async with world.client() as client:
            assert "settled_as" not in is_problem(
                await client.post(f"{ONE}/respond", json=LATE["respond"]), 410
            )

    async def test_a_key_that_may_not_read_the_question_is_not_told_who_answered(self):
        world = World(keys=(ApiKey("k", SecretStr("answers"), scopes=frozenset({"answer"})),))
        world.reader.record = answered(interaction(), "coding", by="ben")
        world.receiver.refusal = AlreadyAnswered("This question was answered through form. Nothing changed.")
        async with world.client("answers") as client:
            late = is_problem(await client.post(f"{ONE}/respond", json=LATE["respond"]), 409)
        assert late["detail"] == "This question was answered through form. Nothing changed."
        assert late.keys() == {"type", "title", "status", "code", "detail"}

    async def test_an_empty_answer_is_an_answer_and_a_missing_one_is_none(self):
        world = World()
        async with world.client() as client:
            is_problem(await client.post(f"{ONE}/respond", json={}), 422)
            assert (await client.post(f"{ONE}/respond", json={"response": ""})).status_code == 200

    @pytest.mark.parametrize(
        "raw",
        [
            b'{"response": 1180591620717411303424}',
            b'{"response": NaN}',
            b'{"response": "\\ud800"}',
            b'{"response": "\\u0000"}',
            b'{"response": "a", "response": "b"}',
            b'{"response": ' + b"[" * 600 + b"]" * 600 + b"}",
            b'{"response": "\xff"}',
            b'{"response": 1e999}',
            b"",
            b"not json",
        ],
    )
    async def test_what_no_agent_could_store_is_refused_before_it_is_accepted(self, raw):
        world = World()
        async with world.client() as client:
            headers = {"content-type": "application/json"}
            is_problem(await client.post(f"{ONE}/respond", content=raw, headers=headers), 422)
        assert world.receiver.responses == []

    async def test_twenty_megabytes_are_refused_before_they_are_accepted(self):
        world = World()
        async with world.client() as client:
            response = await client.post(f"{ONE}/respond", json={"response": "x" * 20_000_000})
        is_problem(response, 413)
        assert world.receiver.responses == []


class TestCancelling:
    async def test_the_asker_takes_a_question_back(self):
        world = World()
        async with world.client() as client:
            plain = await client.post(f"{ONE}/cancel")
            reasoned = await client.post(f"{ONE}/cancel", json={"reason": "found it"})
        assert plain.json()["status"] == reasoned.json()["status"] == "cancelled"
        assert world.asker.cancelled == [
            ("0193-a1", "cancelled by the asker"),
            ("0193-a1", "found it"),
        ]


class TestKeys:
    @pytest.mark.parametrize(
        "header", ["", "Bearer", "Bearer ", "Bearer wrong", "Basic b3BzOm9wcw==", "bearerops", "Bearer a b"]
    )
    @pytest.mark.parametrize("path", ["/v1/runs", ONE, "/v1/nothing"])
    async def test_without_a_known_key_nothing_under_v1_exists(self, header, path):
        async with World().client("") as client:
            response = await client.get(path, headers={"authorization": header})
        is_problem(response, 401)
        assert response.headers["www-authenticate"].startswith("Bearer")

    async def test_no_keys_let_nobody_in(self):
        async with World(keys=()).client("") as client:
            is_problem(await client.get("/v1/runs", headers={"authorization": "Bearer "}), 401)

    async def test_a_key_may_be_configured_by_its_digest(self):
        keys = (ApiKey("a", SecretStr("first-key")), ApiKey("b", key_sha256=digest("second-key")))
        for key in ("first-key", "second-key"):
            async with World(keys=keys).client(key) as client:
                assert (await client.get("/v1/runs")).status_code == 200

    async def test_the_key_is_checked_before_a_byte_of_the_body_is_read(self):
        async def body():
            raise AssertionError("the body was read")
            yield b""

        async with World().client("") as client:
            is_problem(await client.post("/v1/runs", content=body()), 401)

    @pytest.mark.parametrize(
        ("scope", "allowed"),
        [
            ("ask", {*"start ask show status state drop wait cancel retry".split(), "show run"}),
            ("read", {"runs", "show run", "list", "show", "status", "state", "wait"}),
            ("answer", {"respond"}),
            (
                "admin",
                {
                    "start",
                    "runs",
                    "show run",
                    "ask",
                    "list",
                    "show",
                    "status",
                    "state",
                    "drop",
                    "wait",
                    "cancel",
                    "retry",
                },
            ),
        ],
    )
    async def test_a_scope_allows_its_part_and_nothing_else(self, scope, allowed):
        calls = {
            "start": ("POST", "/v1/runs", {"agent": "research"}),
            "runs": ("GET", "/v1/runs", None),
            "show run": ("GET", "/v1/runs/run-1", None),
            "retry": ("POST", "/v1/runs/run-1/retry", None),
            "ask": ("POST", "/v1/interactions", {"question": "x?"}),
            "list": ("GET", "/v1/interactions", None),
            "show": ("GET", ONE, None),
            "status": ("GET", f"{ONE}/status", None),
            "state": ("GET", f"{ONE}/state", None),
            "drop": ("DELETE", f"{ONE}/state", None),
            "wait": ("GET", f"{ONE}/wait", None),
            "respond": ("POST", f"{ONE}/respond", {"response": "x"}),
            "cancel": ("POST", f"{ONE}/cancel", None),
        }
        world = World(keys=(ApiKey("k", SecretStr("scoped"), scopes=frozenset({scope})),))
        async with world.client("scoped") as client:
            for name, (method, path, body) in calls.items():
                response = await client.request(method, path, json=body)
                if name in allowed:
                    assert response.is_success, name
                else:
                    assert is_problem(response, 403)["code"] == "not-allowed", name
                    assert "insufficient_scope" in response.headers["www-authenticate"]

    async def test_what_belongs_to_another_agent_does_not_exist_for_a_restricted_key(self):
        world = World(keys=(ApiKey("k", SecretStr("tutor-key"), agents=frozenset({"tutor"})),))
        world.reader.record = interaction(agent="research")
        async with world.client("tutor-key") as client:
            is_problem(await client.get(ONE), 404)
            is_problem(await client.post(f"{ONE}/respond", json={"response": "x"}), 404)
            is_problem(await client.post(f"{ONE}/cancel"), 404)
            is_problem(await client.delete(f"{ONE}/state"), 404)
            is_problem(await client.get("/v1/runs/run-1"), 404)
            is_problem(await client.post("/v1/runs/run-1/cancel"), 404)
            is_problem(await client.post("/v1/runs", json={"agent": "research"}), 404)
            is_problem(await client.post("/v1/interactions", json={"question": "x?", "agent": "x"}), 403)
            assert (await client.get("/v1/runs")).json()["items"] == []
            assert (await client.get("/v1/interactions")).json()["items"] == []
            await client.post("/v1/interactions", json={"question": "x?"})
        assert world.asker.asked[0].agent == "tutor"
        assert world.receiver.responses == []
        assert world.asker.cancelled == []
        assert world.asker.dropped == []


class TestProblems:
    @pytest.mark.parametrize(
        "path", ["/", "/nothing", "/v1/nothing", "/v1", "/in/telegram/", "/f/", "/f/a/b/c"]
    )
    async def test_unknown_addresses_are_404_and_never_redirect(self, path):
        async with World().client() as client:
            is_problem(await client.get(path), 404)

    @pytest.mark.parametrize("method", ["TRACE", "CONNECT", "PATCH", "DELETE", "OPTIONS", "ODD"])
    @pytest.mark.parametrize(
        ("path", "allowed"),
        [
            ("/v1/runs", "GET, POST"),
            ("/in/telegram", "GET, HEAD, POST"),
            (f"/f/{TOKEN}", "GET, HEAD, POST"),
            ("/docs", "GET, HEAD"),
            ("/-/healthy", "GET, HEAD"),
        ],
    )
    async def test_other_methods_are_405_and_say_which_are_allowed(self, method, path, allowed):
        async with World().client() as client:
            response = await client.request(method, path)
        is_problem(response, 405)
        assert response.headers["allow"] == allowed

    @pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
    async def test_another_media_type_is_415(self, kind):
        async with World().client() as client:
            response = await client.post("/v1/runs", content=b"{}", headers={"content-type": kind})
        assert "application/json" in is_problem(response, 415)["detail"]

    async def test_an_unforeseen_error_is_a_500_that_tells_nothing(self):
        world = World()
        world.asker.refusal = RuntimeError("secret detail")
        async with world.client(raising=False) as client:
            response = await client.post("/v1/interactions", json={"question": "x?"})
        assert "secret" not in response.text
        is_problem(response, 500)

    async def test_every_answer_forbids_what_it_does_not_need(self):
        async with World().client() as client:
            for path in ("/v1/runs", "/nothing", "/docs", f"/f/{TOKEN}", "/-/healthy"):
                headers = (await client.get(path)).headers
                assert headers["cache-control"] == "no-store"
                assert headers["referrer-policy"] == "no-referrer"
                assert headers["x-content-type-options"] == "nosniff"
                assert headers["x-frame-options"] == "DENY"
                assert headers["content-security-policy"].startswith("default-src 'none'")

    async def test_many_headers_are_fine(self):
        async with World().client() as client:
            response = await client.get("/v1/runs", headers={f"x-{place}": "y" for place in range(500)})
        assert response.status_code == 200


class TestHealth:
    async def test_alive_without_a_key(self):
        async with World().client("") as client:
            assert (await client.get("/-/healthy")).json() == {"status": "healthy"}

    async def test_ready_tells_of_each_part(self):
        world = World()
        async with world.client("") as client:
            ready = await client.get("/-/ready")
            world.health.fine = False
            down = await client.get("/-/ready")
        assert ready.json() == {"status": "ready", "parts": {"store": "works", "provider:telegram": "works"}}
        assert is_problem(down, 503)["parts"]["provider:telegram"].startswith("does not answer")


class TestDescription:
    async def test_openapi_names_every_endpoint_with_its_body(self):
        async with World().client("") as client:
            schema = (await client.get("/openapi.json")).json()
        assert set(schema["paths"]) == {
            "/v1/runs",
            "/v1/runs/{id}",
            "/v1/runs/{id}/cancel",
            "/v1/runs/{id}/retry",
            "/v1/runs/{id}/reask",
            "/v1/interactions",
            "/v1/interactions/{id}",
            "/v1/interactions/{id}/status",
            "/v1/interactions/{id}/state",
            "/v1/interactions/{id}/wait",
            "/v1/interactions/{id}/respond",
            "/v1/interactions/{id}/cancel",
        }
        body = schema["paths"]["/v1/interactions"]["post"]["requestBody"]["content"]["application/json"]
        assert body["schema"] == {"$ref": "#/components/schemas/InteractionIn"}

    async def test_every_reference_in_openapi_leads_somewhere(self):
        async with World().client("") as client:
            text = (await client.get("/openapi.json")).text
        names = {part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]}
        assert names and names <= set(json.loads(text)["components"]["schemas"])

    async def test_the_page_needs_nothing_from_another_host(self):
        async with World().client("") as client:
            page = (await client.get("/docs")).text
        assert "/v1/interactions/{id}/respond" in page
        assert "http://" not in page and "https://" not in page
