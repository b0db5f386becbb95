"""The page itself and what it loads: a list of files, and no path of a request ever reaches the disk."""

from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from answerback_sandbox.phone.http import HEADERS

SCRIPTS = (
    "main", "state", "wire", "dom", "notes", "chat", "bubble", "composer", "attach", "rich_text", "telegram",
    "whatsapp", "mail", "letter", "writing", "faults", "people",
)  # fmt: skip
STYLES = ("phone", "chat", "mail")
STATIC = (
    {f"{name}.js": "text/javascript; charset=utf-8" for name in SCRIPTS}
    | {f"{name}.css": "text/css; charset=utf-8" for name in STYLES}
    | {"icon.svg": "image/svg+xml"}
)


async def _page(request: Request) -> Response:
    return Response(_asset("index.html"), media_type="text/html; charset=utf-8", headers=HEADERS)


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        return Response(status_code=404, headers=HEADERS)
    return Response(_asset(name), media_type=STATIC[name], headers=HEADERS)


def _asset(name: str) -> bytes:
    return files("answerback_sandbox.phone").joinpath("static", name).read_bytes()


ROUTES = [
    Route("/", _page, methods=["GET"]),
    Route("/phone", _page, methods=["GET"]),
    Route("/phone/static/{name}", _static, methods=["GET"]),
]
