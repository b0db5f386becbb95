"""An MCP server as browsers have one, run as a program, over HTTP if a port is given.

What it does it writes to the file BROWSER_LOG, a line each, and its process into the file pid beside it. A
file called die there ends it at the next call.
"""

import os
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

LOG = Path(os.environ["BROWSER_LOG"])
server = MCPServer("browser", log_level="ERROR")
page = {"colour": ""}


def note(line: str) -> None:
    with LOG.open("a") as file:
        file.write(line + "\n")


def die_once() -> None:
    wish = LOG.with_name("die")
    if wish.exists():
        wish.unlink()
        os._exit(1)


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
async def look() -> str:
    """What the page shows."""
    die_once()
    return f"A shop. Colour: {page['colour'] or 'not chosen'}."


@server.tool(annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False))
async def choose(colour: str) -> str:
    """Choose a colour."""
    note(f"choose {colour}")
    page["colour"] = colour
    return f"The colour is {colour}."


@server.tool(annotations=ToolAnnotations(destructive_hint=True))
async def order(item: str) -> str:
    """Order something for good."""
    note(f"order {item}")
    die_once()
    if item == "nothing":
        raise ValueError(item)
    return f"Ordered: a {page['colour']} {item}."


@server.tool()
async def untold() -> str:
    """Says nothing about itself."""
    note("untold")
    return "done"


if __name__ == "__main__":
    LOG.with_name("pid").write_text(str(os.getpid()))
    note("started")
    if len(sys.argv) > 1:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
    else:
        server.run("stdio")
