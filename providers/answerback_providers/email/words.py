"""The few sentences that mail adds to a message, by language. `MARKER` is the same in all of them."""

from dataclasses import dataclass

MARKER = "--- write above this line ---"  # what is read of a reply ends here, so it is never translated


@dataclass(frozen=True, slots=True)
class Words:
    """`answer` is a button, `here` is above a link; the next six say what replies do."""

    answer: str
    here: str
    reply: str
    pick: str
    number: str
    word: str
    page: str
    unread: str
    more: str
    why: str


ENGLISH = Words(
    answer="Answer",
    here="Answer here:",
    reply="Or reply to this mail: a number, or your own words.",
    pick="Reply to this mail with a number.",
    number="Or reply to this mail with a number.",
    word="Or reply to this mail with just the word: {words}",
    page="Only there: a reply to this mail does not answer it.",
    unread="Please use the link: replies to this mail are not read.",
    more="and {count} more, shown with the link",
    why="You get this because an agent works for you. Whoever runs it can stop these mails.",
)

LANGUAGES = {
    "en": ENGLISH,
    "de": Words(
        answer="Antworten",
        here="Hier antworten:",
        reply="Oder auf diese Mail antworten: mit einer Nummer oder eigenen Worten.",
        pick="Antworten Sie auf diese Mail mit einer Nummer.",
        number="Oder auf diese Mail antworten: mit einer Nummer.",
        word="Oder auf diese Mail antworten, nur mit dem Wort: {words}",
        page="Nur dort: Eine Antwort auf diese Mail genügt nicht.",
        unread="Bitte den Link benutzen: Antworten auf diese Mail werden nicht gelesen.",
        more="und {count} weitere, zu sehen über den Link",
        why="Diese Mail kommt, weil ein Agent für Sie arbeitet. Wer ihn betreibt, kann sie abstellen.",
    ),
    "fr": Words(
        answer="Répondre",
        here="Répondre ici :",
        reply="Ou répondez à ce message : un numéro, ou vos propres mots.",
        pick="Répondez à ce message par un numéro.",
        number="Ou répondez à ce message par un numéro.",
        word="Ou répondez à ce message par un seul mot : {words}",
        page="Seulement là : une réponse à ce message ne suffit pas.",
        unread="Utilisez le lien : les réponses à ce message ne sont pas lues.",
        more="et {count} de plus, à voir avec le lien",
        why="Vous recevez ceci car un agent travaille pour vous. Son responsable peut arrêter ces messages.",
    ),
    "es": Words(
        answer="Responder",
        here="Responda aquí:",
        reply="O responda a este correo: un número, o sus propias palabras.",
        pick="Responda a este correo con un número.",
        number="O responda a este correo con un número.",
        word="O responda a este correo con una sola palabra: {words}",
        page="Solo allí: una respuesta a este correo no basta.",
        unread="Use el enlace: las respuestas a este correo no se leen.",
        more="y {count} más, en el enlace",
        why="Recibe esto porque un agente trabaja para usted. Quien lo gestiona puede detener estos correos.",
    ),
    "zh": Words(
        answer="回答",
        here="在此回答：",
        reply="也可以直接回复本邮件：写编号，或用您自己的话。",
        pick="请回复本邮件，写编号。",
        number="也可以直接回复本邮件：写编号。",
        word="也可以直接回复本邮件，只写：{words}",
        page="只能在那里回答：回复本邮件无效。",
        unread="请使用链接：本邮件的回复无人阅读。",
        more="还有 {count} 项，可通过链接查看",
        why="有智能体在为您工作，因此您收到此邮件。如不想再收到，请联系运行该智能体的人。",
    ),
}


def words(language: str) -> Words:
    """The sentences for a BCP 47 tag; English where there are none."""
    return LANGUAGES.get(language.replace("_", "-").split("-")[0].lower(), ENGLISH)
