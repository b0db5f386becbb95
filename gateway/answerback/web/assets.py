"""The stylesheet and the script, kept in memory, addressed by their content so that they never go stale."""

import hashlib
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_FOLDER = Path(__file__).parent / "static"
_TYPES = {".css": "text/css", ".js": "text/javascript"}
_FILES = {path.name: path.read_bytes() for path in sorted(_FOLDER.iterdir()) if path.suffix in _TYPES}


def versioned(name: str) -> str:
    """The address of a file relative to the root, with its digest: `static/style.css?v=1f3a…`."""
    return f"static/{name}?v={hashlib.sha256(_FILES[name]).hexdigest()[:16]}"


def routes() -> list[Route]:
    """`/static/{name}`, for the files of this package and nothing else."""

    async def file(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _FILES:
            raise HTTPException(404)
        headers = {"cache-control": "public, max-age=31536000, immutable"}
        return Response(_FILES[name], headers=headers, media_type=_TYPES[Path(name).suffix])

    return [Route("/static/{name}", file, name="static")]
