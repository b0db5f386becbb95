"""How long the head of a request may be: uvicorn bounds bodies' buffers, and headers not at all."""

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

LONGEST_HEAD = 64 << 10  # bytes of request line and headers


class BoundedHeads(HttpToolsProtocol):
    """uvicorn's protocol, which hangs up on whoever sends a head without end."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._in_head, self._head = True, 0

    def on_message_begin(self) -> None:
        self._in_head, self._head = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._in_head:
            return
        self._head += len(data)
        if self._head > LONGEST_HEAD and not self.transport.is_closing():
            self.logger.warning("The head of a request is longer than %d bytes.", LONGEST_HEAD)
            self.send_400_response("The head of this request is too long.")
