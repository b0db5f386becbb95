"""A preloaded process that forks one victim an order: imports are paid for once.

Reads orders as JSON lines; answers each with the wait status of the fork.
"""

import json
import os
import sys
import traceback

from tests.faults import victim


def serve() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                victim.main(order)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        _, status = os.waitpid(child, 0)
        print(status, flush=True)  # noqa: T201 - the answer


if __name__ == "__main__":
    serve()
