"""Whatever comes in, no endpoint ever answers with a 500."""

import json
from urllib.parse import quote, urlencode

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from answerback.web.fields import fill
from answerback.web.posted import Posted
from tests.unit.web.fakes import (
    CONFIRM,
    DATE,
    KEY,
    NUMBER,
    OPEN_CHOICE,
    REVIEW,
    SEVERAL,
    TEXT,
    TOKEN,
    World,
    interaction,
    view,
)
from tests.unit.web.test_form import proof_in

QUESTIONS = (TEXT, CONFIRM, OPEN_CHOICE, SEVERAL, NUMBER, DATE, REVIEW)
POSTS = (
    "/v1/runs",
    "/v1/interactions",
    "/v1/interactions/0193-a1/respond",
    "/v1/interactions/0193-a1/cancel",
    "/in/telegram",
    f"/f/{TOKEN}",
)
FIELDS = "agent input thread_id question questions text kind choices id label min max action".split()
FIELDS += "expires_in response default ask on_expire state free_text name args decisions reason".split()
PARTS = ("", ".own", ".seen", ".reject", ".arg.1", ".arg.2")
NAMES = [f"q{place}{part}" for place in range(7) for part in PARTS]
TYPES = ("application/json", "application/x-www-form-urlencoded", "x;;=", "multipart/form-data")
HEADERS = ("authorization", "content-type", "idempotency-key", "cookie", "origin", "accept-language")

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(FIELDS)
bodies = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), inner, max_size=6)
    ),
    max_leaves=20,
)
fuzz = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@fuzz
@given(body=bodies, path=st.sampled_from(POSTS))
async def test_any_json_is_taken_or_refused(body, path):
    async with World().client() as client:
        content = json.dumps(body).encode("ascii")
        response = await client.post(path, content=content, headers={"content-type": "application/json"})
    assert response.status_code < 500


@fuzz
@given(
    content=st.binary(max_size=200),
    path=st.sampled_from(POSTS),
    kind=st.sampled_from(TYPES),
)
async def test_any_bytes_are_taken_or_refused(content, path, kind):
    async with World().client() as client:
        response = await client.post(path, content=content, headers={"content-type": kind})
    assert response.status_code < 500


@fuzz
@given(
    path=st.text(max_size=30),
    query=st.text(max_size=30),
    prefix=st.sampled_from(["/", "/v1/runs/", "/v1/interactions/", "/in/", "/f/", "/static/"]),
    method=st.sampled_from(["GET", "POST", "HEAD", "PUT", "OPTIONS"]),
)
async def test_any_address_is_answered(path, query, prefix, method):
    def quoted(text: str) -> str:
        return quote(text.encode("utf-8", "surrogatepass"))

    async with World().client() as client:
        response = await client.request(method, f"{prefix}{quoted(path)}?{quoted(query)}")
    assert response.status_code < 500


@fuzz
@given(
    name=st.sampled_from(HEADERS),
    value=st.binary(max_size=40).filter(lambda value: not set(value) & {0, 10, 13}),
    path=st.sampled_from(POSTS),
)
async def test_any_header_is_bearable(name, value, path):
    headers = {b"authorization": f"Bearer {KEY}".encode(), name.encode(): value}
    async with World().client("") as client:
        for method in ("GET", "POST"):
            response = await client.request(method, path, headers=headers)
            assert response.status_code < 500


@fuzz
@given(
    fields=st.dictionaries(
        st.sampled_from([*NAMES, "code", "send-code"]),
        st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(["yes", "0", "edit", "own", "1"]),
    ),
    needs_code=st.booleans(),
)
async def test_any_form_is_taken_or_comes_back(fields, needs_code):
    world = World(view(interaction(*QUESTIONS), needs_code=needs_code))
    async with world.client("") as client:
        proof = proof_in(await client.get(f"/f/{TOKEN}?code=sent"))
        content = urlencode({"proof": proof, **fields})
        headers = {"content-type": "application/x-www-form-urlencoded"}
        response = await client.post(f"/f/{TOKEN}", content=content, headers=headers)
    assert response.status_code in (303, 403, 422)


@fuzz
@given(pairs=st.lists(st.tuples(st.sampled_from(NAMES), st.text())))
def test_reading_a_form_never_raises_and_never_repeats_itself(pairs):
    def nothing(question, text, language):
        return None, "no"

    filled = fill(QUESTIONS, Posted(pairs), "en", nothing)
    assert set(filled.values).isdisjoint(filled.errors)
