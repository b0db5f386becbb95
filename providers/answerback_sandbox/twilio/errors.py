"""Twilio's failures: a status, a code of its own, and a sentence.

https://www.twilio.com/docs/usage/twilios-response#response-formats-exceptions and .../docs/api/errors
"""

from starlette.responses import JSONResponse


class TwilioError(Exception):
    """What a call is answered with instead of a resource."""

    def __init__(self, status: int, code: int, message: str, retry_after: int = 0) -> None:
        self.status, self.code, self.message, self.retry_after = status, code, message, retry_after
        super().__init__(message)

    def response(self) -> JSONResponse:
        """The answer as Twilio words it."""
        body = {
            "code": self.code,
            "message": self.message,
            "more_info": f"https://www.twilio.com/docs/errors/{self.code}",
            "status": self.status,
        }
        headers = {"Retry-After": str(self.retry_after)} if self.retry_after else None
        return JSONResponse(body, self.status, headers)


def not_found(path: str) -> TwilioError:
    """For what is not there, or not ours."""
    return TwilioError(404, 20404, f"The requested resource {path} was not found")


def refused() -> TwilioError:
    """For a wrong account or password."""
    return TwilioError(401, 20003, "Authenticate")
