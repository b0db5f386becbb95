"""What an endpoint of the API works with: the use cases of the application that the request came to.

FastAPI takes a twentieth of a second for all endpoints. So they are made once for all applications of a
process that have the same parts, and what differs comes along with the request.
"""

from typing import Annotated, Any, cast

from fastapi import Depends, Request

from answerback.web.services import Services

SCOPE = "answerback.services"


def services_of(request: Request) -> Services:
    """The services of the application that a request came to."""
    return cast("Services", request.scope[SCOPE])


def part(name: str) -> Any:
    """A dependency: that one of the services, which an application with this endpoint has."""

    async def of(request: Request) -> Any:
        return getattr(services_of(request), name)

    return Depends(of)


async def _all(request: Request) -> Services:
    return services_of(request)


Given = Annotated[Services, Depends(_all)]
