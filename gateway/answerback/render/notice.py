"""A notice as a message: who says it, what, and, where not all of it is shown, the link to the rest."""

from answerback.model import Address
from answerback.provider import Message, MessageKind
from answerback.render.question import called, subject
from answerback.render.visible import brief, cap, visible
from answerback.sentences import say

HEADING = 80
NOTICE_SHOWN = 1000  # characters in a message; a longer text stands on the page of its link


def notice_message(
    text: str,
    to: Address,
    *,
    language: str = "en",
    title: str = "",
    agent: str = "",
    sensitive: bool = False,
    token: str = "",
    form_url: str = "",
) -> Message:
    """A message that asks nothing: the text as it is, with what hides in it made visible.

    Of a sensitive one only who says it and the link are shown.
    """
    name = called(agent)
    if sensitive:
        head, said, cut = name, say("sensitive_notice", language), True
    else:
        whole = visible(text).strip() or "…"
        head, said = brief(title, HEADING) or name, cap(whole, NOTICE_SHOWN)
        cut = said != whole
    return Message(
        to,
        MessageKind.NOTICE,
        said,
        heading=head,
        body=say("read_here", language, link=form_url) if cut and form_url else "",
        subject=subject(said if sensitive else head or said, ""),
        language=language,
        token=token,
        form_url=form_url,
    )
