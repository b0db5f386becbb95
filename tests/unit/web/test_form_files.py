"""Files on the form: where they can be sent, what comes of them, and what is too much."""

from dataclasses import replace

import httpx
import pytest

from answerback.uploads import Upload
from tests.unit.web.fakes import CONFIRM, NUMBER, TEXT, World
from tests.unit.web.test_form import LINK, proof_in, world_of

PHOTO = ("files", ("photo.jpg", b"\xff\xd8jpeg", "image/jpeg"))
NOTES = ("files", ("notes.txt", "Grüße\r\n".encode(), "text/plain"))
NONE = ("files", ("", b"", "application/octet-stream"))  # what a browser sends where nothing was chosen
MB = 1 << 20
NOT_UTF8 = b'--a\r\nContent-Disposition: form-data; name="q0"\r\n\r\n\xff\xfe\r\n--a--\r\n'


async def send(world: World, fields: dict[str, str], *files: tuple, **headers: str) -> httpx.Response:
    """Open the page and post it with files, as a browser without JavaScript does."""
    async with world.client("") as client:
        page = await client.get(LINK)
        told = {"origin": "null", "sec-fetch-site": "same-origin", **headers}
        data = {"proof": proof_in(page), **fields}
        return await client.post(LINK, data=data, files=list(files), headers=told)


async def shown(world: World) -> str:
    async with world.client("") as client:
        return (await client.get(LINK)).text


@pytest.mark.parametrize("questions", [(TEXT,), (CONFIRM, TEXT, NUMBER)])
async def test_where_one_can_write_freely_files_can_be_sent(questions):
    page = await shown(world_of(*questions))
    assert 'enctype="multipart/form-data"' in page and page.count('type="file"') == 1
    assert "Up to 8 MB in all." in page


@pytest.mark.parametrize("questions", [(CONFIRM,), (CONFIRM, NUMBER)])
async def test_elsewhere_they_cannot(questions):
    world = world_of(*questions)
    page = await shown(world)
    assert "multipart" not in page and 'type="file"' not in page
    assert (await send(world, {"q0": "yes"}, PHOTO)).status_code == 415
    assert world.forms.submitted == []


@pytest.mark.parametrize("questions", [(TEXT,), (CONFIRM, TEXT)])
async def test_nor_where_they_would_not_reach_the_agent(questions):
    world = world_of(*(replace(each, files=False) for each in questions))
    page = await shown(world)
    assert "multipart" not in page and 'type="file"' not in page
    assert (await send(world, {"q0": "yes", "q1": "x"}, PHOTO)).status_code == 415
    assert world.forms.submitted == []


async def test_they_come_with_the_answer_in_their_order():
    world = world_of(TEXT)
    assert (await send(world, {"q0": "one\r\ntwo"}, PHOTO, NOTES)).status_code == 303
    assert world.forms.submitted == [({"term": "one\ntwo"}, "one\ntwo", "")]
    assert world.forms.files == (
        Upload("photo.jpg", "image/jpeg", b"\xff\xd8jpeg"),
        Upload("notes.txt", "text/plain", "Grüße\r\n".encode()),
    )


async def test_without_one_it_is_an_answer_as_ever():
    world = world_of(TEXT)
    assert (await send(world, {"q0": "coding"}, NONE)).status_code == 303
    assert (world.forms.submitted, world.forms.files) == ([({"term": "coding"}, "coding", "")], ())


async def test_an_older_page_that_posts_no_files_still_counts():
    world = world_of(TEXT)
    async with world.client("") as client:
        fields = {"proof": proof_in(await client.get(LINK)), "q0": "coding"}
        response = await client.post(LINK, data=fields, headers={"sec-fetch-site": "same-origin"})
    assert response.status_code == 303 and len(world.forms.submitted) == 1


async def test_a_photo_needs_no_words():
    world = world_of(TEXT)
    assert (await send(world, {"q0": " "}, PHOTO)).status_code == 303
    assert world.forms.submitted == [({"term": ""}, "", "")]


async def test_among_several_questions_each_still_wants_its_answer():
    world = world_of(TEXT, NUMBER)
    response = await send(world, {"q0": "", "q1": "3"}, PHOTO)
    assert response.status_code == 422 and world.forms.submitted == []
    assert "Please choose your files once more." in response.text  # a browser does not keep them


async def test_the_proof_is_asked_for_all_the_same():
    world = world_of(TEXT)
    response = await send(world, {"q0": "coding", "proof": "0" * 64}, PHOTO)
    assert response.status_code == 403 and world.forms.submitted == []
    assert "coding" in response.text and "choose your files once more" in response.text


async def test_up_to_eight_megabytes_are_taken_and_more_are_not():
    world = world_of(TEXT)
    response = await send(world, {"q0": "x"}, *[("files", ("a.bin", bytes(4 * MB), "")) for _ in range(2)])
    assert (response.status_code, [len(file.content) for file in world.forms.files]) == (303, [4 * MB] * 2)
    world = world_of(TEXT)
    response = await send(world, {"q0": "what was typed"}, ("files", ("a.bin", bytes(8 * MB + 1), "")))
    assert response.status_code == 413 and "what was typed</textarea>" in response.text
    assert "at most 20 files and 8 MB in all" in response.text
    assert world.forms.submitted == []


async def test_twenty_files_are_taken_and_one_more_is_not():
    files = [("files", (f"{number}", b"x", "")) for number in range(21)]
    world = world_of(TEXT)
    assert (await send(world, {"q0": "x"}, *files[1:])).status_code == 303
    assert len(world.forms.files) == 20
    world = world_of(TEXT)
    response = await send(world, {"q0": "what was typed"}, *files)
    assert response.status_code == 413 and "what was typed</textarea>" in response.text
    assert world.forms.submitted == []


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("multipart/form-data", b"--a--"),
        ("multipart/form-data; boundary=a", b"--a\r\nContent-Disposition: nothing\r\n\r\nx\r\n--a--\r\n"),
        ("multipart/form-data; boundary=a", b"no boundary at all"),
        ("multipart/form-data; boundary=a; charset=no-such", b"--a--\r\n"),
        ("multipart/form-data; boundary=" + "a" * 5000, b"--a--\r\n"),
        ("multipart/form-data; boundary=a", NOT_UTF8),
    ],
)
async def test_what_is_no_form_decides_nothing(kind, body):
    world = world_of(TEXT)
    async with world.client("") as client:
        await client.get(LINK)
        response = await client.post(LINK, content=body, headers={"content-type": kind})
    assert response.status_code in (403, 422) and world.forms.submitted == []


@pytest.mark.parametrize(
    "charset", ["charset=punycode", 'CharSet="idna"', "charset=utf-8; charset=punycode", "charset=hex"]
)
async def test_a_charset_whose_decoding_would_hold_up_everybody_is_not_tried(charset):
    world = world_of(TEXT)
    kind = f"multipart/form-data; boundary=a; {charset}"
    async with world.client("") as client:
        response = await client.post(LINK, content=b"--a--\r\n", headers={"content-type": kind})
    assert response.status_code == 422 and world.forms.submitted == []


async def test_a_link_that_leads_nowhere_reads_no_files():
    world = world_of(TEXT)
    async with world.client("") as client:
        response = await client.post("/f/" + "x" * 26, files=[PHOTO])
    assert response.status_code == 404
