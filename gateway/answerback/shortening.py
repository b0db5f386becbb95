"""A text that is too long loses its end, and says where the whole is."""


def shorten(text: str, limit: int, link: str = "", *, utf16: bool = False) -> str:
    """At most `limit` characters (UTF-16 units if `utf16`): the text, or its beginning, "…" and `link`.

    Never raises and never refuses: a text that is too long loses its end, and says where the whole is.
    """

    def size(value: str) -> int:
        return len(value.encode("utf-16-le", "surrogatepass")) // 2 if utf16 else len(value)

    if limit <= 0 or size(text) <= limit:
        return text
    tail = f"…\n{link}" if link and size(link) + 2 < limit else "…"
    low, high = 0, len(text)
    while low < high:  # the longest beginning that fits
        middle = (low + high + 1) // 2
        low, high = (middle, high) if size(text[:middle] + tail) <= limit else (low, middle - 1)
    return text[:low].rstrip() + tail
