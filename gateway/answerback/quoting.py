"""What is new in a mail: without the quoted question, the history below it and the signature.

Linear in the length of the text, whatever it holds. Where it is not certain that something is quoted it
stays: an answer with too much in it is asked again, a lost one is lost.
"""

import re

from answerback.footers import sent_from, signs
from answerback.sentences import LANGUAGES, say

LONGEST = 400  # characters of a line that can be a header of a quotation
MOST_BETWEEN = 4  # empty lines, or such as are only quoted, between an introduction and what it introduces
HEADER_LINES = 3  # "On Monday, Ana Lima\n<ana@example.org>\nwrote:" is folded by some programs
LEAST_RULER = 10  # underscores
EDGE = " \t\u00a0>|*_-–—=#~."
MARKERS = frozenset(say("write_above", language).casefold() for language in LANGUAGES)
# "On …, Ana wrote:" by language: how it begins, and a word that stands near its end. A program is never "I".
OPENERS = re.compile(
    r"(?:on|am|le|el|il|em|op|den|dne|dnia|w dniu|в|på|kl\.?|tarihinde|от|\d{1,4}[-./年]|"
    r"(?:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so|lun|mar|mer|jeu|ven|sam|dim|pon|wt|śr|czw|pt|sob|niedz|пн|вт|ср|чт|пт|сб|вс)\b|"
    r"\S+ <[^<>\s]+@|在|\S+@)",
    re.IGNORECASE,
)
VERBS = re.compile(
    r"\b(?:(?<!\bI )wrote|writes|(?<!\bich )schrieb(?! ich\b)|a écrit|escribió|ha scritto|escreveu|schreef|"
    r"skrev|kirjoitti|napsal|napsala|napisał|napisała|написал|написала|писал|пишет|"
    r"yazdı|írta|a scris)\b|写道|写到|寫道|のメール|さんは書きました|작성",
    re.IGNORECASE,
)
# In any language, right above our own mail: an address and a digit, or a year and a time of day.
ADDRESS, DIGIT = re.compile(r"[<(\u202a]\S+@"), re.compile(r"\d")
# Some programs put what they quote behind its introduction, in one line.
MARKED = re.compile(r"([:：]) *(-{2,} ?(?:" + "|".join(map(re.escape, sorted(MARKERS))) + r") ?-{2,})", re.I)
YEAR, TIME = re.compile(r"(?<!\d)20\d\d(?!\d)|\d\d?[./]\d\d?[./]\d\d(?!\d)"), re.compile(r"\d[:.]\d\d(?!\d)")
INVISIBLE = dict.fromkeys([0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
STAMP = re.compile(r"@|\d[:.h时點点]\d\d")  # a program writes an address or a time; a person hardly does
RULERS = re.compile(
    r"[-_= ]{2,}\s*(?:original message|forwarded message|original appointment|ursprüngliche nachricht|"
    r"originalnachricht|weitergeleitete nachricht|message d'origine|message d’origine|message original|"
    r"message transféré|mensaje original|mensaje reenviado|messaggio originale|mensagem original|"
    r"oorspronkelijk bericht|ursprungligt meddelande|oprindelig meddelelse|wiadomość oryginalna|"
    r"mail original|courriel original|correo original|"
    r"исходное сообщение|пересылаемое сообщение|özgün ileti|"
    r"原始邮件|原始郵件|邮件原件|回复的原邮件|转发的邮件|元のメッセージ|원본 메시지)\s*[-_= ]{2,}",
    re.IGNORECASE,
)
FROM = re.compile(
    r"\*?(?:from|von|de|da|van|från|fra|od|от|kimden|lähettäjä|"
    r"发件人|寄件者|差出人|보낸 사람)\s*\*?\s*(?:[:：]|\|)",
    re.IGNORECASE,
)
ALSO = re.compile(
    r"\*?(?:sent|date|to|cc|subject|gesendet|datum|an|betreff|envoyé|date|à|objet|enviado|enviado el|fecha|"
    r"para|asunto|"
    r"inviato|data|a|oggetto|assunto|verzonden|aan|onderwerp|skickat|till|ämne|sendt|til|emne|wysłano|do|temat|"
    r"отправлено|дата|кому|тема|gönderildi|kime|konu|"
    r"发送时间|日期|收件人|主题|主旨|送信日時|宛先|件名|받는 사람|제목)"
    r"\s*\*?\s*(?:[:：]|\|)",
    re.IGNORECASE,
)


def new_text(text: str) -> str:
    """What a person newly wrote in a plain text mail; "" if that is nothing."""
    whole = MARKED.sub(r"\1\n\2", text.replace("\r\n", "\n").replace("\r", "\n"))
    lines = whole.split("\n")
    lines = _above_marker(_without_introductions(lines))
    lines = _without_history(lines)
    lines = [line for line in lines if not _quoted(line)]
    lines = _without_signature(lines)
    while lines and not lines[-1].strip(" \t\u00a0"):
        lines.pop()
    return "\n".join(lines).strip("\n")


def _quoted(line: str) -> bool:
    return line.lstrip(" \t\u00a0").startswith((">", "＞"))


def _is_marker(line: str) -> bool:
    return len(line) <= LONGEST and line.strip(EDGE).casefold() in MARKERS


def _without_introductions(lines: list[str]) -> list[str]:
    """Without what a program puts right above our own mail, in any language: there it is certain."""
    dropped: set[int] = set()
    for place in (place for place, line in enumerate(lines) if _is_marker(line)):
        end = place
        while end > max(0, place - MOST_BETWEEN) and not lines[end - 1].strip(EDGE):
            end -= 1
        dropped.update(range(end - _introduction(lines, end), end))
    return [line for place, line in enumerate(lines) if place not in dropped]


def _introduction(lines: list[str], end: int) -> int:
    """How many lines right above `end` say when and from whom what follows is; 0 if they do not."""
    joined = ""
    for size, line in enumerate(reversed(lines[max(0, end - HEADER_LINES) : end]), start=1):
        if not line.strip() or len(joined) + len(line) > LONGEST or _quoted(line):
            return 0
        joined = f"{line.strip()} {joined}".strip()
        if not joined.translate(INVISIBLE).endswith((":", "：")):
            return 0
        if (ADDRESS.search(joined) and DIGIT.search(joined)) or (YEAR.search(joined) and TIME.search(joined)):
            return size
    return 0


def _above_marker(lines: list[str]) -> list[str]:
    """Our own line says that nothing below it is read; where it came back quoted, an answer may follow."""
    for place, line in enumerate(lines):
        if not _quoted(line) and _is_marker(line):
            return lines[:place]
    return lines


def _without_history(lines: list[str]) -> list[str]:
    """Without the headers of quotations, and without what follows one if something was written above it."""
    kept: list[str] = []
    place, wrote = 0, False
    while place < len(lines):
        size = _header(lines, place)
        if not size:
            kept.append(lines[place])
            wrote = wrote or bool(lines[place].strip() and not _quoted(lines[place]))
            place += 1
            continue
        place += size
        _drop_ruler(kept)
        quoted_below = any(_quoted(line) for line in lines[place : place + 3])
        if wrote and not quoted_below:
            break
    return kept


def _drop_ruler(lines: list[str]) -> None:
    """Take away the line of underscores that some programs draw right above what they quote."""
    for place in range(len(lines) - 1, max(len(lines) - 3, -1), -1):
        drawn = lines[place].strip()
        if len(drawn) >= LEAST_RULER and not drawn.strip("_"):
            del lines[place:]


def _header(lines: list[str], place: int) -> int:
    """How many lines from here on are the header of a quotation; 0 if they are none."""
    first = lines[place].strip(" \t\u00a0").replace("&nbsp;", " ")  # QQ writes it like that
    if not first or len(first) > LONGEST or _quoted(first):
        return 0
    if RULERS.fullmatch(first):
        return 1 + _block(lines, place + 1)
    if size := _block(lines, place):
        return size
    return _attribution(lines, place) if OPENERS.match(first) else 0


def _attribution(lines: list[str], place: int) -> int:
    joined = ""
    for size, line in enumerate(lines[place : place + HEADER_LINES], start=1):
        if not line.strip() or len(joined) + len(line) > LONGEST or _quoted(line):
            return 0
        joined += " " + line.strip()
        if joined.endswith((":", "：")):
            return size if VERBS.search(joined) and STAMP.search(joined) else 0
    return 0


def _block(lines: list[str], place: int) -> int:
    """From:, Sent:, To:, Subject: as Outlook writes them: at least three such lines together.

    Where the sender is not the first of them, an address must stand there too: people write lists as well.
    """
    size, senders, named = 0, 0, False
    for line in lines[place : place + 8]:
        said = line.strip(" \t\u00a0|")
        if len(line) > LONGEST or not (FROM.match(said) or ALSO.match(said)):
            break
        named = named or bool(ADDRESS.search(said)) or (not size and bool(FROM.match(said)))
        size, senders = size + 1, senders + bool(FROM.match(said))
    return size if size >= 3 and senders == 1 and named else 0


def _without_signature(lines: list[str]) -> list[str]:
    """Without what follows "-- " and a telephone's own line; a signature alone is left as it is."""
    first = next((place for place, line in enumerate(lines) if line.strip()), len(lines))
    for place in range(first + 1, len(lines)):
        if lines[place] == "-- " or (lines[place].rstrip() == "--" and signs(lines, place + 1)):
            lines = lines[:place]
            break
    last = max((place for place, line in enumerate(lines) if line.strip()), default=0)
    return lines[:last] if last > 0 and sent_from(lines[last]) else lines
