"""From the tools of an MCP server to tools for a model."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from mcp import MCPError
from mcp.types import ContentBlock, EmbeddedResource, ImageContent, ResourceLink, TextContent, Tool

from answerback_agents.copilot.server import Away, Server, Uncertain

AWAY = "The server of this tool cannot be reached now, so this was not done."
UNCERTAIN = (
    "The connection was lost before the result came: it is not known whether this was done. Find out by "
    "looking before you do anything like it again."
)


async def tools_of(server: Server) -> list[BaseTool]:
    """The server's tools; `metadata` has its hints, by the names that MCP gives them. Raises `Away`."""
    return [_made(server, tool) for tool in await server.tools()]


def changes(tool: BaseTool) -> bool:
    """Whether a tool may change something: each that does not say of itself that it only reads."""
    hints: Mapping[str, Any] = tool.metadata or {}
    return hints.get("readOnlyHint") is not True or hints.get("destructiveHint") is True


def _made(server: Server, tool: Tool) -> BaseTool:
    hints = tool.annotations.model_dump(by_alias=True, exclude_none=True) if tool.annotations else {}

    async def call(**arguments: Any) -> list[dict[str, Any]]:
        try:
            result = await server.call(tool.name, arguments, repeatable=not changes(made))
        except Away as error:
            raise ToolException(AWAY) from error
        except Uncertain as error:
            raise ToolException(UNCERTAIN) from error
        except MCPError as error:
            raise ToolException(f"The server refuses this: {error.message}") from error
        if result.is_error:
            raise ToolException(_text(result.content) or "It failed, and nothing says why.")
        return [_shown(block) for block in result.content] or [{"type": "text", "text": "Done."}]

    made = StructuredTool(
        name=tool.name,
        description=tool.description or tool.title or tool.name,
        args_schema=tool.input_schema,
        coroutine=call,
        metadata=hints,
        handle_tool_error=True,
    )
    return made


def _shown(block: ContentBlock) -> dict[str, Any]:
    """A block of a result, as a message has it."""
    if isinstance(block, ImageContent):
        return {"type": "image", "base64": block.data, "mime_type": block.mime_type}
    return {"type": "text", "text": _words(block)}


def _words(block: ContentBlock) -> str:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, EmbeddedResource):
        text = getattr(block.resource, "text", None)
        return text if isinstance(text, str) else f"(a file: {block.resource.uri})"
    if isinstance(block, ResourceLink):
        return f"(more at {block.uri})"
    return "(sound)"


def _text(blocks: Sequence[ContentBlock]) -> str:
    return "\n".join(_words(block) for block in blocks if not isinstance(block, ImageContent))
