"""Parameters that several endpoints share: ids, and how a body is announced in OpenAPI."""

import re
from typing import Annotated, Any

from fastapi import Depends, Path
from pydantic import BaseModel

from answerback.errors import NotFound

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def is_id(text: str) -> bool:
    """Whether it can be an id, or a name, of ours."""
    return _ID.fullmatch(text) is not None


def known(what: str) -> Any:
    """The id in the path. One that cannot be an id of ours is not found, like one that is unknown."""

    async def check(id: Annotated[str, Path(description=f"The id of the {what}.")]) -> str:
        if not is_id(id):
            raise NotFound(f"There is no such {what}.")
        return id

    return Depends(check)


RunId = Annotated[str, known("run")]
InteractionId = Annotated[str, known("interaction")]
ContactId = Annotated[str, known("contact")]
LetterId = Annotated[str, known("dead letter")]


def accepts(model: type[BaseModel], *, optional: bool = False) -> dict[str, Any]:
    """The OpenAPI description of a request body that the endpoint reads itself."""
    schema = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"required": not optional, "content": {"application/json": {"schema": schema}}}}
