"""The process in which mail is read: what a mail does to the libraries, it does here. No network, no files.

It is asked by a line of JSON with the size of the mail that follows, and answers with a line of JSON.
"""

import base64
import json
import resource
import sys
from typing import Any

from answerback_providers.email import parts, reading, trust
from answerback_providers.email.addresses import mailbox
from answerback_providers.email.head import split

MEMORY = 1 << 30  # octets of address space
READY = b"ready\n"


def main() -> None:
    """Answer until nobody asks any more."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    asked, said = sys.stdin.buffer, sys.stdout.buffer
    said.write(READY)
    said.flush()
    while line := asked.readline():
        job = json.loads(line)
        said.write(json.dumps(answer(job, asked.read(job["size"]))).encode() + b"\n")
        said.flush()


def answer(job: dict[str, Any], raw: bytes) -> dict[str, Any]:
    """`{"reading": …}`, `{"verified": …}`, `{"file": Base64}`, or `{"error": its name}`."""
    try:
        if "records" in job:
            return {"verified": trust.verified(raw, split(raw), job["domain"], job["records"])}
        if "place" in job:
            return {"file": base64.b64encode(parts.file(raw, job["place"])).decode()}
        return {"reading": reading.read(raw, mailbox(job["own"]), job["authserv_id"]).dump()}
    except Exception as error:  # a hostile mail ends here; its text is not passed on
        return {"error": type(error).__name__}


if __name__ == "__main__":
    main()
