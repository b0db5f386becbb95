"""The form: what it shows, what it takes, and who may post it."""

import re
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import httpx
import pytest

from answerback.errors import AlreadyAnswered, Closed, DoesNotFit, StoreUnavailable
from answerback.model import Action, Choice, InteractionStatus, OnExpire, Question, QuestionKind
from tests.unit.web.fakes import (
    CHOICE,
    CONFIRM,
    DATE,
    HOUR,
    NOW,
    NUMBER,
    OPEN_CHOICE,
    PUBLIC,
    REVIEW,
    SEVERAL,
    TEXT,
    TOKEN,
    World,
    answered,
    interaction,
    view,
)

if TYPE_CHECKING:
    from answerback.forms import FormView

LINK = f"/f/{TOKEN}"


def world_of(*questions: Question, language: str = "en", **more) -> World:
    return World(view(interaction(*questions), language=language, **more))


def proof_in(page: httpx.Response) -> str:
    return re.search(r'name="proof" value="([0-9a-f]{64})"', page.text)[1]


async def fill(client: httpx.AsyncClient, fields: dict, **headers: str) -> httpx.Response:
    """Open the page and post `fields` from it, as a browser without JavaScript does."""
    page = await client.get(LINK)
    headers = {"origin": "null", "sec-fetch-site": "same-origin", **headers}
    return await client.post(LINK, data={"proof": proof_in(page), **fields}, headers=headers)


async def answer(world: World, fields: dict) -> httpx.Response:
    async with world.client("") as client:
        return await fill(client, fields)


class TestShowing:
    async def test_words_from_right_to_left_stand_apart_in_a_sentence(self):
        record = answered(interaction(TEXT), "<b>שלום</b>")
        async with World(view(record, you=True)).client("") as client:
            page = (await client.get(LINK)).text
        assert "You wrote “<bdi>&lt;b&gt;שלום&lt;/b&gt;</bdi>” · 14:02." in page and "\u2068" not in page

    async def test_what_is_sensitive_does_not_stand_in_the_title_that_a_browser_keeps(self):
        asked = interaction(CONFIRM, sensitive=True, agent="term_check")
        for record, title in (
            (asked, "A question is waiting for you."),
            (answered(asked, True), "Term check"),
        ):
            async with World(view(record)).client("") as client:
                page = (await client.get(LINK)).text
            assert f"<title>{title}</title>" in page

    async def test_half_a_link_or_a_fault_is_told_on_a_page_in_a_browser_and_as_a_document_elsewhere(self):
        world, browser = World(), {"accept": "text/html,*/*;q=0.8", "accept-language": "de"}
        async with world.client("", raising=False) as client:
            for path in ("/", "/f/", "/f/x/y", "/nothing"):
                page = await client.get(path, headers=browser)
                assert page.status_code == 404 and "Diesen Link kenne ich nicht" in page.text
                assert page.headers["content-type"].startswith("text/html")
                document = await client.get(path)
                assert document.json()["status"] == 404
            world.forms.page = cast("FormView", None)  # which breaks whatever looks at it
            page = await client.get(LINK, headers=browser)
            assert page.status_code == 500 and "Hier ist etwas schiefgegangen" in page.text
            assert (await client.get(LINK)).json()["code"] == "internal"

    async def test_a_title_is_short_and_never_only_a_code(self):
        async with World(view(interaction(replace(TEXT, text="long " * 50), title=""))).client("") as client:
            title = re.search("<title>(.*)</title>", (await client.get(LINK)).text)[1]
        assert title.startswith("long long ") and title.endswith("… · An agent") and len(title) < 80

    async def test_what_an_agent_says_of_its_action_stands_apart_too(self):
        record = interaction(replace(REVIEW, text="\u2068x שלום"))
        async with World(view(record)).client("") as client:
            page = (await client.get(LINK)).text
        assert "The agent says: “<bdi>⟦U+2068⟧x שלום</bdi>”" in page

    async def test_the_question_is_the_heading_and_who_asks_stands_above_it(self):
        record = interaction(TEXT, context="Because of <b>this</b>.", expires_at=NOW + 4 * HOUR)
        async with World(view(record)).client("") as client:
            page = (await client.get(LINK)).text
        assert page.index("Research · term check</p>") < page.index("<h1") < page.index("Because of")
        assert "&lt;b&gt;this&lt;/b&gt;" in page
        assert "by 18:02" in page and "#K7Q2" in page

    @pytest.mark.parametrize("method", ["GET", "HEAD"])
    async def test_law_5_looking_changes_nothing(self, method):
        world = world_of(CONFIRM, needs_code=True)
        async with world.client("") as client:
            for query in ("", "?q0=yes", "?code=sent", "?send-code=1"):
                response = await client.request(method, LINK + query)
                assert response.status_code == 200
        assert world.forms.submitted == [] and world.forms.codes == 0

    async def test_the_page_is_kept_nowhere_and_asks_no_other_host(self):
        async with world_of(TEXT).client("") as client:
            page = await client.get(LINK)
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["referrer-policy"] == "no-referrer"
        policy = page.headers["content-security-policy"]
        assert "unsafe" not in policy and "form-action 'self'" in policy and "base-uri 'none'" in policy
        assert "http://" not in page.text and "https://" not in page.text
        assert "style=" not in page.text and "onclick" not in page.text

    async def test_links_in_the_page_are_relative_whatever_the_host_says(self):
        async with world_of(TEXT).client("") as client:
            page = await client.get(LINK, headers={"host": "evil.example.net"})
        assert "evil" not in page.text + str(page.headers)

    async def test_the_cookie_is_for_this_browser_and_this_form_only(self):
        async with world_of(TEXT).client("") as client:
            cookie = (await client.get(LINK)).headers["set-cookie"].lower()
        assert all(part in cookie for part in ("httponly", "samesite=strict", "secure", "path=/f/"))
        assert TOKEN not in cookie

    async def test_a_plain_http_address_gets_a_cookie_that_it_can_send(self):
        world = World(view(interaction(TEXT)), public_url="http://127.0.0.1:8700")
        async with world.client("") as client:
            assert "secure" not in (await client.get(LINK)).headers["set-cookie"].lower()

    @pytest.mark.parametrize("token", ["unknown-but-wellformed", "%00", "a", "x" * 200, "a%2Fb"])
    async def test_an_unknown_link_is_the_same_page_with_one_sentence(self, token):
        async with World().client("") as client:
            page = await client.get(f"/f/{token}", headers={"accept-language": "de-AT,en;q=0.5"})
        assert page.status_code == 404
        if page.headers["content-type"].startswith("text/html"):  # a slash in the token is another address
            assert "Diesen Link kenne ich nicht." in page.text and "<form" not in page.text

    async def test_what_hides_in_an_agents_text_is_made_visible(self):
        question = replace(TEXT, text="Pay \u202e100\u202c?\u200b")
        async with world_of(question).client("") as client:
            page = (await client.get(LINK)).text
        assert "\u202e" not in page and "\u200b" not in page and "U+202E" in page

    async def test_even_what_utf_8_cannot_carry_is_shown(self):
        async with world_of(replace(TEXT, text="a\ud800b")).client("") as client:
            assert (await client.get(LINK)).status_code == 200

    async def test_a_page_speaks_the_persons_language(self):
        async with world_of(CONFIRM, language="de-AT").client("") as client:
            page = (await client.get(LINK)).text
        assert ">Ja</button>" in page and ">Nein</button>" in page and 'lang="de-AT"' in page

    async def test_an_open_page_can_ask_whether_it_was_answered(self):
        world = world_of(CHOICE)
        async with world.client("") as client:
            assert (await client.get(f"{LINK}/status")).json() == {"status": "pending"}
            world.forms.page = view(answered(interaction(CHOICE), "psr"))
            assert (await client.get(f"{LINK}/status")).json() == {"status": "completed"}


class TestAnswering:
    async def test_a_text_reaches_the_agent_as_it_was_typed(self):
        world = world_of(TEXT)
        typed = "\n  “PSR”\r\nsecond line \t"
        async with world.client("") as client:
            response = await fill(client, {"q0": typed.replace("\r\n", "\n").replace("\n", "\r\n")})
        assert response.status_code == 303 and response.headers["location"] == f"./{TOKEN}?sent=1"
        [(values, text, _)] = world.forms.submitted
        assert values == {"term": "\n  “PSR”\nsecond line \t"} and text == values["term"]

    async def test_after_the_answer_a_reload_shows_the_outcome_and_sends_nothing(self):
        world = world_of(CHOICE)
        async with world.client("") as client:
            response = await fill(client, {"q0": "1"})
            page = await client.get(f"/f/{response.headers['location']}")
            await client.get(LINK)
        assert "✅ You chose “Use ‘coding’” · 14:02. Going on." in page.text
        assert "<form" not in page.text and len(world.forms.submitted) == 1

    @pytest.mark.parametrize(
        ("question", "fields", "value", "text"),
        [
            (CONFIRM, {"q0": "yes"}, True, "Yes"),
            (CONFIRM, {"q0": "no"}, False, "No"),
            (CHOICE, {"q0": "0"}, "psr", "Use “PSR”"),
            (OPEN_CHOICE, {"q0": "own", "q0.own": "neither"}, "neither", "neither"),
            (OPEN_CHOICE, {"q0.own": "neither"}, "neither", "neither"),
            (OPEN_CHOICE, {"q0": "1", "q0.own": " "}, "coding", "Use “coding”"),
            (SEVERAL, {"q0": ["1", "0"], "q0.seen": "1"}, ["psr", "coding"], "Use “PSR”, Use “coding”"),
            (replace(SEVERAL, required=False), {"q0.seen": "1"}, [], ""),
            (NUMBER, {"q0": " 7 "}, 7, "7"),
            (NUMBER, {"q0": "3,5"}, 3.5, "3,5"),
            (DATE, {"q0": "2026-12-03"}, "2026-12-03", "2026-12-03"),
            (DATE, {"q0": "tomorrow"}, "2026-11-22", "tomorrow"),
            (REVIEW, {"q0": "approve"}, {"decision": "approve"}, "Approve"),
            (REVIEW, {"q0": "reject", "q0.reject": ""}, {"decision": "reject"}, "Reject"),
            (REVIEW, {"q0": "reject", "q0.reject": "no"}, {"decision": "reject", "message": "no"}, "no"),
            (
                REVIEW,
                {"q0": "respond", "q0.respond": "ask"},
                {"decision": "respond", "message": "ask"},
                "ask",
            ),
        ],
    )
    async def test_each_kind_of_question_has_its_value(self, question, fields, value, text):
        world = world_of(question)
        assert (await answer(world, fields)).status_code == 303
        assert world.forms.submitted == [({question.id: value}, text, "")]

    async def test_an_edited_call_keeps_the_kinds_of_its_arguments(self):
        world = world_of(REVIEW)
        fields = {"q0": "edit", "q0.arg.0": "Ben", "q0.arg.1": "80", "q0.arg.2": "false"}
        assert (await answer(world, fields)).status_code == 303
        [(values, _, _)] = world.forms.submitted
        assert values["act"] == {
            "decision": "edit",
            "args": {"customer": "Ben", "amount": 80, "notify": False},
        }

    async def test_arguments_that_were_not_touched_stay_what_they_are_to_the_byte(self):
        action = Action("refund_payment", {"body": "a\r\nb\n", "n": 1.50, "deep": {"x": [1, None]}})
        world = world_of(replace(REVIEW, action=action))
        async with world.client("") as client:
            page = (await client.get(LINK)).text
            assert "&#34;x&#34;" in page
            fields = {"q0": "edit", "q0.arg.0": "a\r\nb\r\n", "q0.arg.1": "1.5"}
            await fill(client, fields)
        assert world.forms.submitted[0][0]["act"]["args"] == action.args

    @pytest.mark.parametrize(
        "fields",
        [
            {"q0": "approve", "q0.arg.1": "80"},
            {"q0": "approve", "q0.arg.2": "false"},
            {"q0": "approve", "q0.reject": "not this one"},
            {"q0": "edit", "q0.arg.1": "80", "q0.respond": "why?"},
            {"q0": "reject", "q0.respond": "ask her first"},
        ],
    )
    async def test_law_9_nobody_approves_what_they_changed_without_the_change_or_loses_what_they_wrote(
        self, fields
    ):
        for questions in ((REVIEW,), (TEXT, replace(REVIEW, id="r"))):
            world = world_of(*questions)
            place = f"q{len(questions) - 1}"
            page = await answer(world, {"q0": "x"} | {place + key[2:]: each for key, each in fields.items()})
            assert page.status_code == 422 and "would not be sent with this" in page.text
            assert "<details open>" in page.text and world.forms.submitted == []

    async def test_what_a_browser_gives_back_otherwise_than_it_was_shown_counts_as_not_changed(self):
        args = {"a": "x\ry", "b": "nul\0", "c": "half \ud83d", "d": "long\r\n" * 20, "e": 1}
        world = world_of(replace(REVIEW, action=Action("send", args)))
        given = ("xy", "nul\ufffd", "half ?", "long\r\n" * 20, "1")
        fields = {f"q0.arg.{place}": value for place, value in enumerate(given)}
        assert (await answer(world, {"q0": "approve"} | fields)).status_code == 303
        assert world.forms.submitted == [({"act": {"decision": "approve"}}, "Approve", "")]

    @pytest.mark.parametrize("typed", ["abc", '"text"', "true", "NaN", "1e999", "9" * 40])
    async def test_an_argument_that_changes_its_kind_is_asked_again_in_place(self, typed):
        world = world_of(REVIEW)
        page = await answer(world, {"q0": "edit", "q0.arg.1": typed})
        assert page.status_code == 422 and "It has to be a number." in page.text
        assert "<details open>" in page.text
        assert world.forms.submitted == []

    async def test_afterwards_each_of_several_questions_stands_with_what_was_understood(self):
        record = answered(interaction(TEXT, NUMBER), "")
        values = {TEXT.id: "Ana <Lima>", NUMBER.id: 3000}
        assert record.answer is not None
        record = replace(record, answer=replace(record.answer, values=values))
        async with World(view(record, you=True)).client("") as client:
            page = (await client.get(LINK)).text
        async with World(view(replace(record, sensitive=True), you=True)).client("") as client:
            sensitive = (await client.get(LINK)).text
        assert f"{TEXT.text} → Ana &lt;Lima&gt;</p>" in page and f"{NUMBER.text} → 3000</p>" in page
        assert TEXT.text in sensitive and "Lima" not in sensitive

    async def test_several_questions_are_answered_on_one_page(self):
        optional = replace(DATE, id="later", required=False)
        world = world_of(TEXT, CONFIRM, replace(OPEN_CHOICE, id="c"), replace(SEVERAL, id="s"), optional)
        fields = {"q0": "PSR", "q1": "no", "q2": "own", "q2.own": "x", "q3": "1", "q4": ""}
        assert (await answer(world, fields)).status_code == 303
        [(values, text, _)] = world.forms.submitted
        assert values == {"term": "PSR", "go": False, "c": "x", "s": ["coding"]} and text == ""

    async def test_what_is_missing_is_said_where_it_is_missing_and_the_rest_is_kept(self):
        world = world_of(TEXT, CONFIRM)
        page = await answer(world, {"q0": "kept <words>"})
        assert page.status_code == 422 and world.forms.submitted == []
        assert 'id="q1-error"' in page.text and 'id="q0-error"' not in page.text
        assert "kept &lt;words&gt;</textarea>" in page.text

    @pytest.mark.parametrize(
        ("question", "fields", "says"),
        [
            (TEXT, {"q0": " \r\n "}, "Please answer this."),
            (TEXT, {"q0": "a\0b"}, "U+0000"),
            (NUMBER, {"q0": "many"}, "“many” is not a number I can read."),
            (NUMBER, {"q0": "11"}, "too large"),
            (DATE, {"q0": "next week"}, "“next week” is not a date I can read."),
            (DATE, {"q0": "2026-02-31"}, ""),
            (CHOICE, {"q0": "7"}, "Please press one of the buttons"),
            (CHOICE, {"q0": "own", "q0.own": "x"}, "Please"),
            (OPEN_CHOICE, {"q0": "1", "q0.own": "typed before"}, "would not be sent with this"),
            (CONFIRM, {"q0": "true"}, "Please press one of the buttons."),
            (REVIEW, {"q0": "destroy"}, "Please press one of the buttons."),
            (REVIEW, {"q0": "respond", "q0.respond": ""}, "Please answer this."),
            (replace(REVIEW, decisions=("reject",)), {"q0": "approve"}, "Please"),
        ],
    )
    async def test_what_does_not_fit_comes_back_in_place_with_a_sentence(self, question, fields, says):
        world = world_of(question)
        page = await answer(world, fields)
        assert page.status_code == 422 and says in page.text
        assert 'role="alert"' in page.text and world.forms.submitted == []
        assert page.text.count("<form") == 1

    async def test_a_refusal_from_below_keeps_what_was_typed(self):
        world = world_of(TEXT)
        world.forms.refusal = DoesNotFit("Your text is too long to keep.")
        page = await answer(world, {"q0": "long words"})
        assert page.status_code == 422
        assert "too long to keep" in page.text and "long words</textarea>" in page.text

    async def test_a_full_disk_keeps_what_was_typed_and_says_when_to_try_again(self):
        world = world_of(TEXT)
        world.forms.refusal = StoreUnavailable("no space")
        page = await answer(world, {"q0": "my words"})
        assert page.status_code == 503 and page.headers["retry-after"]
        assert "my words</textarea>" in page.text and "no space" not in page.text

    @pytest.mark.parametrize(
        ("content", "kind", "status"),
        [
            (b"q0=%ff", "application/x-www-form-urlencoded", 422),
            (b"\xff", "application/x-www-form-urlencoded", 422),
            (b"&".join(b"a=1" for _ in range(3000)), "application/x-www-form-urlencoded", 422),
            (b"{}", "application/json", 415),
            (b"x" * 200_000, "application/x-www-form-urlencoded", 413),
        ],
    )
    async def test_what_is_no_form_is_refused_on_a_page(self, content, kind, status):
        world = world_of(TEXT)
        async with world.client("") as client:
            page = await client.post(LINK, content=content, headers={"content-type": kind})
        assert page.status_code == status and page.headers["content-type"].startswith("text/html")


class TestLate:
    async def test_whoever_answers_second_is_told_who_answered(self):
        done = view(answered(interaction(CHOICE), "coding", by="ben", via="whatsapp"), answerer="Ben")
        world = World(done)
        async with world.client("") as client:
            seen = await client.get(LINK)
            late = await client.post(LINK, data={"q0": "0"})
        assert "✅ Ben chose “Use ‘coding’” on WhatsApp · 14:02." in seen.text
        assert late.status_code == 409
        assert "Ben answered this at 14:02 on WhatsApp: “Use ‘coding’”. Nothing changed." in late.text

    async def test_law_2_losing_the_race_is_told_the_same_way(self):
        world = world_of(CHOICE)
        async with world.client("") as client:
            page = await client.get(LINK)
            world.forms.refusal = AlreadyAnswered("…")
            world.forms.meanwhile = view(answered(interaction(CHOICE), "psr", by="ben"), answerer="Ben")
            late = await client.post(LINK, data={"proof": proof_in(page), "q0": "1"})
        assert late.status_code == 409 and "Ben answered this" in late.text

    async def test_expired_says_so_and_what_the_agent_was_told(self):
        gone = interaction(CHOICE, status=InteractionStatus.EXPIRED, expires_at=NOW - HOUR)
        async with World(view(gone)).client("") as client:
            seen, late = await client.get(LINK), await client.post(LINK, data={"q0": "0"})
        assert seen.status_code == 200 and late.status_code == 410
        for page in (seen, late):
            assert "This closed at 13:02 without an answer." in page.text and "<form" not in page.text

    async def test_closing_while_the_page_was_open_is_told(self):
        world = world_of(CHOICE)
        world.forms.refusal = Closed("…")
        page = await answer(world, {"q0": "0"})
        assert page.status_code == 410

    async def test_what_was_cancelled_says_thanks(self):
        gone = interaction(CHOICE, status=InteractionStatus.CANCELLED, reason="cancelled by the asker")
        async with World(view(gone)).client("") as client:
            assert "The agent no longer needs this. Thanks anyway." in (await client.get(LINK)).text

    async def test_a_sensitive_answer_is_shown_to_nobody(self):
        done = view(answered(interaction(TEXT, sensitive=True), "my pin", by="ben"), answerer="Ben")
        async with World(done).client("") as client:
            page = (await client.get(LINK)).text
        assert "my pin" not in page and "Ben answered" in page

    async def test_an_overdue_question_can_still_be_answered(self):
        late = interaction(TEXT, on_expire=OnExpire.LEAVE, expires_at=NOW - HOUR, overdue_at=NOW - HOUR)
        async with World(view(late)).client("") as client:
            page = (await client.get(LINK)).text
        assert "This was due at 13:02." in page and "<form" in page

    async def test_a_link_of_nobody_says_you_in_the_browser_that_answered_and_nowhere_else(self):
        done = view(answered(interaction(TEXT), "PSR", by=""), contact=None)
        world = world_of(TEXT, contact=None)
        async with world.client("") as client:
            await client.get(LINK)
            world.forms.page = done
            here, later = await client.get(f"{LINK}?sent=1"), await client.get(LINK)
            client.cookies.clear()
            elsewhere = await client.get(f"{LINK}?sent=1")
        assert "You wrote “PSR”" in here.text
        assert "Somebody wrote “PSR” on the form" in later.text and "Somebody wrote" in elsewhere.text


class TestProof:
    async def test_a_post_without_the_page_decides_nothing(self):
        world = world_of(CONFIRM)
        async with world.client("") as client:
            page = await client.post(LINK, data={"q0": "yes"})
        assert page.status_code == 403 and world.forms.submitted == []

    async def test_a_page_without_its_cookie_decides_nothing(self):
        world = world_of(CONFIRM)
        async with world.client("") as client:
            proof = proof_in(await client.get(LINK))
            client.cookies.clear()
            page = await client.post(LINK, data={"proof": proof, "q0": "yes"})
        assert page.status_code == 403 and world.forms.submitted == []

    @pytest.mark.parametrize(
        "headers",
        [
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"},
            {"sec-fetch-site": "none"},
            {"sec-fetch-site": "", "origin": PUBLIC},
        ],
    )
    async def test_a_post_from_another_site_decides_nothing(self, headers):
        world = world_of(CONFIRM)
        async with world.client("") as client:
            page = await fill(client, {"q0": "yes"}, **headers)
        assert page.status_code == 403 and world.forms.submitted == []

    @pytest.mark.parametrize(
        ("origin", "status"),
        [
            (PUBLIC, 303),
            ("null", 303),  # what browsers send for a page with Referrer-Policy: no-referrer
            ("https://evil.example.net", 403),
            ("http://ask.example.org", 403),
            ("https://ask.example.org.evil.net", 403),
        ],
    )
    async def test_an_older_browser_is_judged_by_its_origin(self, origin, status):
        world = world_of(CONFIRM)
        async with world.client("") as client:
            proof = proof_in(await client.get(LINK))
            data = {"proof": proof, "q0": "yes"}
            page = await client.post(LINK, data=data, headers={"origin": origin})
        assert page.status_code == status

    async def test_the_proof_of_one_link_is_no_proof_for_another(self):
        world = world_of(CONFIRM)
        async with world.client("") as client:
            other = proof_in(await client.get(LINK))
            client.cookies.clear()
            await client.get(LINK)
            page = await client.post(LINK, data={"proof": other, "q0": "yes"})
        assert page.status_code == 403

    async def test_pressing_once_more_is_enough_and_nothing_typed_is_lost(self):
        world = world_of(TEXT)
        async with world.client("") as client:
            stale = await client.post(LINK, data={"proof": "0" * 64, "q0": "my words"})
            assert "once more" in stale.text and "my words</textarea>" in stale.text
            again = await client.post(LINK, data={"proof": proof_in(stale), "q0": "my words"})
        assert again.status_code == 303

    async def test_two_open_pages_of_one_link_both_work(self):
        world = world_of(TEXT)
        async with world.client("") as client:
            first, second = await client.get(LINK), await client.get(LINK)
            assert proof_in(first) == proof_in(second)


class TestCode:
    async def test_law_7_a_confirmation_asks_for_a_code_first(self):
        world = world_of(CONFIRM, needs_code=True)
        async with world.client("") as client:
            page = (await client.get(LINK)).text
            assert "Send me a code" in page and 'value="yes"' not in page
            sent = await fill(client, {"send-code": "1"})
            assert sent.status_code == 303 and sent.headers["location"] == f"./{TOKEN}?code=sent"
            asking = (await client.get(f"{LINK}?code=sent")).text
            assert 'autocomplete="one-time-code"' in asking and 'value="yes"' in asking
            done = await fill(client, {"code": " 123 456 ", "q0": "yes"})
        assert world.forms.codes == 1 and done.status_code == 303
        assert world.forms.submitted == [({"go": True}, "Yes", "123456")]

    @pytest.mark.parametrize(
        ("code", "status", "says"),
        [("", 422, "Please type the six digits"), ("000000", 403, "This code is not right")],
    )
    async def test_without_the_right_code_nothing_is_decided(self, code, status, says):
        world = world_of(CONFIRM, needs_code=True)
        page = await answer(world, {"code": code, "q0": "yes"})
        assert page.status_code == status and says in page.text
        assert 'id="code-error"' in page.text and 'value="yes"' in page.text
        assert world.forms.submitted == []

    async def test_a_second_code_within_half_a_minute_is_refused_kindly(self):
        world = world_of(CONFIRM, needs_code=True)
        async with world.client("") as client:
            await fill(client, {"send-code": "1"})
            page = await fill(client, {"send-code": "1", "code": ""})
        assert page.status_code == 409 and "half a minute" in page.text

    async def test_a_link_that_was_sent_to_nobody_decides_nothing(self):
        world = world_of(REVIEW, needs_code=True, can_send_code=False)
        async with world.client("") as client:
            page = (await client.get(LINK)).text
        assert "This link alone cannot decide this." in page and "<button" not in page

    async def test_plain_questions_need_no_code(self):
        world = world_of(TEXT)
        assert (await answer(world, {"q0": "PSR"})).status_code == 303


class TestReview:
    async def test_the_call_comes_first_and_in_full_and_what_the_agent_says_is_quoted_below(self):
        record = interaction(REVIEW, title="Billing", context="x" * 5000)
        async with World(view(record)).client("") as client:
            page = (await client.get(LINK)).text
        assert "Billing · wants to run" in page
        order = [page.index(part) for part in ("refund_payment", "Ana Lima", "The agent says", "Approve")]
        assert order == sorted(order)
        assert "Customer confirmed by phone." in page and "x" * 1001 not in page

    async def test_only_what_is_allowed_is_offered(self):
        async with world_of(replace(REVIEW, decisions=("approve", "reject"))).client("") as client:
            page = (await client.get(LINK)).text
        assert 'value="edit"' not in page and 'value="respond"' not in page

    @pytest.mark.parametrize("question", [CONFIRM, REVIEW, OPEN_CHOICE])
    async def test_enter_presses_a_button_that_does_nothing(self, question):
        async with world_of(question).client("") as client:
            page = (await client.get(LINK)).text
        assert page.index("<button disabled hidden>") < page.index("<button", page.index("<button") + 1)

    async def test_odd_names_never_become_field_names(self):
        odd = Question('a"><b', "?", QuestionKind.CHOICE, choices=(Choice('"\r\n', "<i>"),))
        world = world_of(odd)
        async with world.client("") as client:
            page = (await client.get(LINK)).text
            assert "<i>" not in page and "<b" not in page.replace("<body", "").replace("<button", "")
            await fill(client, {"q0": "0"})
        assert world.forms.submitted[0][0] == {'a"><b': '"\r\n'}
