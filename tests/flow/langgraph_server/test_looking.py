"""The cursor of a look and the ids of threads: pure, without a server."""

import uuid
from collections.abc import AsyncIterator
from typing import Any

from answerback.agent import Failed, Paused
from answerback.errors import AgentUnavailable
from answerback_agents.langgraph_server import Settings, marks, reading
from answerback_agents.langgraph_server.looking import OVERLAP, UNREAD, Cursor, look

SECOND = 1_000_000


def test_a_change_is_news_once_even_if_an_older_one_becomes_visible_after_it() -> None:
    cursor = Cursor("s").moved({"a": 100 * SECOND})
    assert not cursor.is_news("a", 100 * SECOND)
    assert cursor.is_news("b", 95 * SECOND)
    assert cursor.is_news("a", 101 * SECOND)
    assert not cursor.is_news("c", 100 * SECOND - OVERLAP)


def test_the_cursor_remembers_no_more_than_the_last_moments() -> None:
    cursor = Cursor("s").moved({"a": 100 * SECOND}).moved({"b": 100 * SECOND + OVERLAP})
    assert cursor.seen == {"b": 100 * SECOND + OVERLAP}


def test_a_cursor_is_kept_as_text_and_begins_anew_for_another_server_or_filter() -> None:
    cursor = Cursor("s").moved({"a": 100 * SECOND})
    assert Cursor.read(cursor.write(), "s") == cursor
    assert Cursor.read(cursor.write(), "other") == Cursor("other")
    assert Cursor.read("", "s") == Cursor("s")


def test_a_uuid_is_its_own_id_on_the_server_and_any_other_name_has_one_for_each_agent() -> None:
    id = str(uuid.uuid4())
    assert marks.server_id("remote", id) == id
    assert marks.server_id("remote", id.upper()) == id
    ours = marks.server_id("remote", "customer 7")
    assert uuid.UUID(ours).version == 5
    assert ours == marks.server_id("remote", "customer 7") != marks.server_id("other", "customer 7")


def test_a_thread_is_a_gateway_s_by_its_marks_and_its_id_so_a_copy_of_it_is_not() -> None:
    marked = {"metadata": marks.of_thread("remote", "customer 7")}
    assert marks.started_as({"thread_id": marks.server_id("remote", "customer 7"), **marked}) == (
        "remote",
        "customer 7",
    )
    assert marks.started_as({"thread_id": str(uuid.uuid4()), **marked}) == ("", "")
    assert marks.started_as({"thread_id": str(uuid.uuid4()), "metadata": None}) == ("", "")


def test_the_order_of_keys_does_not_change_what_is_asked_and_a_form_does() -> None:
    def digest(interrupt: dict[str, object]) -> str:
        ((_, mark),) = reading.listed({"interrupts": {"task": [{"id": "i", **interrupt}]}})
        return mark

    plain = digest({"value": {"a": 1, "b": 2}})
    assert plain == digest({"value": {"b": 2, "a": 1}, "response_schema": None})
    assert plain != digest({"value": {"a": 1, "b": 2}, "response_schema": {"type": "object"}})


def test_a_thread_where_one_step_failed_and_another_asks_waits_for_the_one_that_asks() -> None:
    tasks = [
        {"name": "a", "error": "ValueError('no')", "interrupts": [{"id": "1", "value": "A?"}]},
        {"name": "b", "error": None, "interrupts": [{"id": "2", "value": "B?"}]},
    ]
    state = {"next": ["a", "b"], "tasks": tasks, "checkpoint": {"checkpoint_id": "c"}}
    stands = reading.stands({"status": "error"}, state, None)
    assert isinstance(stands, Paused)
    assert [each.interrupt_id for each in stands.pending] == ["2"]
    only_failed = reading.stands({"status": "error"}, {**state, "tasks": tasks[:1]}, None)
    assert only_failed == Failed("ValueError('no')")


class Listing:
    """A server with these threads, which cannot read any of them."""

    def __init__(self, *threads: dict[str, Any]) -> None:
        self._threads = threads

    async def threads(self, metadata: dict[str, str], status: str | None = None) -> AsyncIterator[Any]:
        for number, thread in enumerate(self._threads):
            if status in (None, thread["status"]):
                at = f"2026-11-25T00:00:0{number}+00:00"
                yield {"thread_id": f"t{number}", "updated_at": at, "metadata": {}, **thread}

    async def holds_inside(self) -> bool:
        return False

    async def state(self, id: str) -> dict[str, Any]:
        raise AgentUnavailable("It answers with 500.")


async def test_a_thread_that_cannot_be_read_hides_none_of_the_others() -> None:
    before_ids = {"status": "interrupted", "interrupts": {"task": [{"value": "Go?", "ns": ["a"]}]}}
    held = {"status": "interrupted", "interrupts": {}}
    asking = {"status": "interrupted", "interrupts": {"task": [{"id": "1", "value": "Go?"}]}}
    server: Any = Listing(before_ids, held, asking)
    found = await look(server, Settings(url="http://x", assistant="a", adopt=True), {}, "")
    waiting = {change.thread: change.waiting for change in found.changes}
    assert (waiting["t0"], waiting["t1"]) == (UNREAD, UNREAD)
    assert [id for id, _ in waiting["t2"]] == ["1"]


def test_nobody_is_asked_while_a_run_works() -> None:
    assert reading.stands({"status": "busy"}, {"next": ["a"], "tasks": []}, None) is None
