"""What the look of a text changes about what it says: struck out, or quoted from somebody else.

The app takes the marks that were typed for it away (https://core.telegram.org/bots/api#messageentity); here
they stand again, as people type them. Bold or slanted, a text says the same.
"""

from answerback.provider import Json
from answerback_providers.telegram.fields import number, obj, string

QUOTES = frozenset({"blockquote", "expandable_blockquote"})
WIDTH = 2  # octets: offsets and lengths count UTF-16 code units
LINE = "\n".encode("utf-16-le")


def marked(text: str, entities: Json) -> str:
    """The text with "~" around what is struck out, and "> " before each line that is quoted."""
    units = text.encode("utf-16-le", "surrogatepass")
    added: dict[int, str] = {}
    for entity in entities if isinstance(entities, list) else []:
        kind = string(obj(entity).get("type"))
        start, length = number(obj(entity).get("offset")), number(obj(entity).get("length"))
        if start is None or length is None or start < 0 or length <= 0:
            continue
        begin, end = start * WIDTH, min((start + length) * WIDTH, len(units))
        if kind == "strikethrough" and begin < end:
            added |= {begin: added.get(begin, "") + "~", end: "~" + added.get(end, "")}
        elif kind in QUOTES and begin < end:
            lines = (at for at in range(begin, end, WIDTH) if at == begin or units[at - WIDTH : at] == LINE)
            added |= {at: "> " + added.get(at, "") for at in lines}
    if not added:
        return text
    pieces, place = [], 0
    for at in sorted(added):
        pieces += [units[place:at].decode("utf-16-le", "surrogatepass"), added[at]]
        place = at
    return "".join([*pieces, units[place:].decode("utf-16-le", "surrogatepass")])
