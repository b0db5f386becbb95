"""What a mail program, or its owner once and for all, puts below what is written. Pure.

A line is taken for that only if all of it is: "Sent from my iPhone, but not now" was written by a person.
"""

import re
from collections.abc import Sequence

LONGEST = 400  # characters of a line, with a link
MOST_WORDS = 9  # of what it was sent from
SIGNATURE_LINES = 12
# How a program says what it was sent from, up to the thing itself; and such as say it behind the thing.
BEFORE = re.compile(
    r"(?:(?:this (?:mail|e-mail|email|message) was )?sent (?:with|via|using|from(?= (?:my|the|an?|outlook|"
    r"yahoo|mail|proton|gmail|samsung|windows|iphone|ipad|android|spark|bluemail|aol|fairmail|k-9|thunderbird|"
    r"mobile)\b))|"
    r"(?:diese (?:e-mail|mail|nachricht) wurde )?(?:gesendet|verschickt) (?:von|vom|mit|aus|über)|"
    r"envoyé (?:de|depuis|à partir|avec)|enviado (?:desde|con|do|da|pelo|a través)|"
    r"inviato (?:da|dal|con)|verzonden (?:vanaf|met|via)|skickat (?:från|med)|sendt (?:fra|med)|"
    r"wysłan[eoy] z|отправлено (?:с|из))(?=\s)",
    re.IGNORECASE,
)
BEHIND = re.compile(
    r"(?:diese (?:e-mail|mail|nachricht) wurde )?von (?P<thing>.+) (?:gesendet|verschickt)", re.IGNORECASE
)
WHOLE = re.compile(
    r"yahoo mail: search, organize, conquer|"
    r"get [a-z0-9 -]{0,12}(?:mail|outlook|boxer|spark) for (?:ios|android|windows|mac|iphone|ipad)|"
    r"(?:holen sie sich|télécharger|obtener) outlook (?:für|pour|para) (?:ios|android|windows|mac)|"
    r"outlook für (?:ios|android|windows|mac) beziehen|"
    r"获取适用于 [A-Za-z ]{2,20}的 outlook|获取 ?outlook(?: for [a-z]+)?|"
    r"(?:发自|從|从)我的 ?[^，。！？,.!?不别別但没沒勿等]{1,20}(?:发送|傳送)?|"
    r"iphone ?から送信|나의 [A-Za-z0-9 ]{2,40}에서 보냄",
    re.IGNORECASE,
)
# The words around the name of a thing; no word that could add to an answer, or take from it.
AROUND = frozenset(
    (
        "a aan af an aplicación aplicativo app appareil appareils appli aus avec cellulare celular con "
        "correo da dal das de dem den der des device di die dispositivo do du e-mail el email ett fra "
        "for free from från für handheld het il ipad iphone la le les ma mail mail-app med meine meinem "
        "meinem/meiner meinen meiner messagerie met meu mi mijn min mio mit mobil mobile mobiltelefon mon "
        "my móvil para per phone portable pour secure seguro smartphone sécurisée tablet telefon telefone "
        "telefono telefonu teléfono the til till to toestel téléphone unterwegs van vanaf via voor "
        "wireless для мобильной моего мой почты приложения смартфона телефона устройства "
    ).split()
)
# The name of a thing has a capital letter or a digit. In capitals alone there are only makers.
NAME = re.compile(r"(?=.*[A-ZÀ-ÖØ-ÞА-Я0-9])[\w.+&/’'-]{1,24}")
MAKERS = frozenset("AOL AT&T BT GMX HTC HP LG LTE MIUI RIM TCL TIM ZTE EE WEB.DE PC".split())
LINK = re.compile(r"\s*[<(]https?://[^\s<>()]{1,200}[>)]|\s+https?://\S{1,200}")
# In what stands below a bare "--": how somebody is reached, whom they work for, and other names.
REACHED = re.compile(r"\S{1,64}@\S{1,100}|(?:https?://|www\.)\S+|\+?\(?\d[\d ()/.-]{6,24}\d")
FIRM = re.compile(r"\b(?:Ltd|Limited|Inc|LLC|Corp|GmbH|AG|KG|e\.V|SA|SAS|SARL|S\.L|SpA|BV|AB|Oy|Co)\b")
TITLED = re.compile(
    r"[A-ZÀ-ÖØ-ÞА-Я][\w.’'&/-]*:?|[&/|·•]|\d{1,6}|of|and|for|at|de|da|di|du|la|le|von|van|der|und|für|bei"
)


def sent_from(line: str) -> bool:
    """Whether all of a line says what a mail was sent from: "Sent from my iPhone"."""
    if len(line) > LONGEST:
        return False
    plain = LINK.sub("", line).strip().rstrip(".")
    if not plain:
        return False
    if WHOLE.fullmatch(plain):
        return True
    if before := BEFORE.match(plain):
        return _is_thing(plain[before.end() :])
    behind = BEHIND.fullmatch(plain)
    return behind is not None and _is_thing(behind["thing"])


def _is_thing(text: str) -> bool:
    words = text.split()
    return 0 < len(words) <= MOST_WORDS and all(_belongs(word) for word in words)


def _belongs(word: str) -> bool:
    if word.lower() in AROUND or word in MAKERS:
        return True
    shouted = word.isupper() and not any(each.isdigit() for each in word)
    return bool(NAME.fullmatch(word)) and not shouted


def signs(lines: Sequence[str], start: int) -> bool:
    """Whether all lines from `start` on can only be somebody's signature: names, a firm, how to reach them.

    Below "-- " that need not be asked (RFC 3676, section 4.3); programs drop the blank of it, and people
    draw such lines themselves, between one thought and the next.
    """
    if len(lines) - start > SIGNATURE_LINES:
        return False
    said = [line.strip() for line in lines[start:] if line.strip()]
    if any(len(line) > LONGEST for line in said):
        return False
    certain = any(REACHED.search(line) or FIRM.search(line) for line in said)
    return certain and all(_names(REACHED.sub(" ", line)) for line in said)


def _names(line: str) -> bool:
    words = FIRM.sub(" ", line).replace(",", " ").split()
    shouted = bool(words) and " ".join(words).isupper()
    return all(TITLED.fullmatch(each) for each in words) and not shouted
