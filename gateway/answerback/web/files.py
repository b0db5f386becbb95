"""Files that came with an answer, over HTTP: fetched from their service when they are asked for."""

import re
from typing import Annotated
from urllib.parse import quote

from fastapi import FastAPI, Path
from starlette.responses import Response

from answerback.attachments import File
from answerback.web.auth import MayFollow, require_sight
from answerback.web.parameters import InteractionId
from answerback.web.parts import part
from answerback.web.services import Files, Reader

TYPE = re.compile(r"[a-z0-9][a-z0-9.+-]{0,60}/[a-z0-9][a-z0-9.+-]{0,60}", re.IGNORECASE | re.ASCII)
UNKNOWN = "application/octet-stream"
_Number = Annotated[int, Path(ge=0, le=1000, description="Its place in the answer's attachments, from 0.")]


def add(api: FastAPI) -> None:
    """Adds the endpoint for what came with an answer."""

    @api.get(
        "/v1/interactions/{id}/attachments/{number}",
        response_class=Response,
        responses={200: {"description": "The bytes.", "content": {"*/*": {}}}},
    )
    async def attachment(
        id: InteractionId,
        number: _Number,
        key: MayFollow,
        reader: Annotated[Reader, part("reader")],
        files: Annotated[Files, part("files")],
    ) -> Response:
        """The bytes of a file. 410 if its service does not give it any more, 413 if it is too large."""
        interaction = await reader.interaction(id)
        require_sight(key, interaction.agent, "interaction")
        return _response(await files.fetch(interaction, number))


def _response(file: File) -> Response:
    """To be kept, never to be shown: a person's file must not run as a page of ours."""
    kind = file.content_type if TYPE.fullmatch(file.content_type) else UNKNOWN
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}",
        "Content-Security-Policy": "sandbox",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
    return Response(file.content, media_type=kind, headers=headers)
