"""Bodies that nobody sends by accident: each may be refused or ignored, none may harm."""

import json

from tests.intake.doors import ACCOUNT, PHONE, SENDER, TEXT
from tests.intake.table import update

DEEP = 100_000
MEGABYTES = 10 << 20
NESTED = b'{"update_id": 1, "message": ' + b'{"reply_to_message": ' * 900 + b"null" + b"}" * 901
WRONG = {
    "update_id": {"$ne": None},
    "message": [TEXT],
    "callback_query": PHONE,
    "type": ["reply"],
    "data": [TEXT],
    "response": {"q1": [TEXT]},
}

BODIES: dict[str, bytes] = {
    "nothing": b"",
    "not JSON": f"<xml>{TEXT}</xml>".encode(),
    "half of it": b'{"update_id": 77, "message": {"te',
    "null": b"null",
    "a number": b"7",
    "a list": b"[]",
    "a list of lists": json.dumps([[TEXT], [PHONE]]).encode(),
    "an empty object": b"{}",
    "wrong types": json.dumps(WRONG).encode(),
    "ids of the wrong type": json.dumps({**update(7), "update_id": "7"}).encode(),
    "a chat that is none": json.dumps(update(8, chat=PHONE, **{"from": 1001})).encode(),
    "deeper than any parser goes": b"[" * DEEP + b"]" * DEEP,
    "as deep as an object may be": NESTED,
    "a number of 5000 digits": b'{"update_id": ' + b"9" * 5000 + b', "response": ' + b"9" * 5000 + b"}",
    "infinite": b'{"update_id": 1e999, "response": 1e999, "type": "reply", "data": {"text": NaN}}',
    "not UTF-8": b'{"response": "\xff\xfe\x80", "text": "\xc3\x28"}',
    "not UTF-8 in a form": b"q0=%FF%FE&Body=%C3%28&MessageSid=%80",
    "half a character": b'{"response": "\\ud83d", "type": "reply", "data": {"sender": "\\udc00"}}',
    "NUL": b'{"response": "\\u0000", "type": "reply", "data": {"sender": "\\u0000", "text": "a\\u0000b"}}',
    "NUL in a form": b"q0=%00&Body=%00&MessageSid=SM%00&From=%00",
    "raw NUL": b"\x00" * 64,
    "a byte order mark": b"\xef\xbb\xbf{}",
    "the same key twice": b'{"update_id": 5, "update_id": 6, "response": "a", "response": {"q1": 1}}',
    "the same field twice": f"MessageSid=SM1&MessageSid=SM2&From=whatsapp:{PHONE}&q0=a&q0=b".encode(),
    "three thousand fields": "&".join(f"f{number}={TEXT}" for number in range(3000)).encode(),
    "another account's": f"MessageSid=SM9&AccountSid=AC0&From=whatsapp:{PHONE}&To=whatsapp:{SENDER}".encode(),
    "a status that is none": f"MessageSid=SM9&AccountSid={ACCOUNT}&MessageStatus[]=x".encode(),
    "an id of 5000 characters": f"MessageSid={'S' * 5000}&AccountSid={ACCOUNT}&Body=x".encode(),
    "10 MB": b'{"response": "' + b"x" * MEGABYTES + b'"}',
    "10 MB of a form": b"q0=" + b"x" * MEGABYTES,
}
