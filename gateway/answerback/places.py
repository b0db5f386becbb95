"""What a service says of a place: it has a new id, it was closed to us, or it is open again."""

from answerback.outbox import Outbox
from answerback.provider import PlaceNews
from answerback.store import Row, Tx, places
from answerback.succession import next_address


def heard(tx: Tx, outbox: Outbox, provider: str, news: PlaceNews) -> list[Row]:
    """Note it. Whoever can no longer answer there is asked on their next provider at once."""
    if news.moved_to:
        places.move(tx, provider, news.place, news.moved_to)
        return []
    places.reached(tx, provider, news.place, news.closed)
    if not news.closed:
        return []
    asked = places.asked_at(tx, provider, news.place)
    return [row for delivery in asked for row in next_address(outbox, tx, delivery)]
