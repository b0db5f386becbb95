"""Keywords that ask for a revision inside a sentence with something else: "redo it with more practice". Pure.

They only ever lead to another question, never to an approval. A clause in which something is denied, agreed
to, or asked about has none.
"""

import re

from answerback_agents.tutor.catalogue import LETTER, whole
from answerback_agents.tutor.meaning import Said, is_asked_for
from answerback_agents.tutor.words import ASKING_SIGN, DIRECTIONS, table

AGAIN = """
redo|redo it|redoing|start over|start again|from scratch|something different|
something else|something completely different|something totally different|noch einmal neu|neu machen|
neu planen|etwas anderes|etwas ganz anderes|refaire|recommencer|autre chose|rehacer|empezar de nuevo|otra cosa
"""
AGAIN_IN_CHINESE = "重新(?!学|复习)|重来|重做|不同(?!意)|不一样|换一?[个份套](?!课|网课)"
ALTER = """
change|changing|adjust|adjusting|modify|modifying|revise|alter|different|another|ändern|anpassen|andere|anderes|
changer|modifier|adapter|différent|différente|cambiar|modificar|ajustar|diferente|distinto|otro
"""
ALTER_IN_CHINESE = "修改|调整|更改|改变|改一|改改|改下|换"
ANOTHER = "different|new|another|alternative|anderen?|anderer|neuen?|neuer|autre|nouveau|otro|nuevo"
OTHER = "other|others|another|different|andere|anderen|autres|d'autres|otros|otras"
MORE = "more|additional|further|mehr|weitere|weiteren|plus de|encore des|más"
PLANS = "plan|draft|version|proposal|approach|lernplan|entwurf"
COURSES = "courses?|class|classes|options?|choices?|recommendations?|suggestions?|ones|kurse?n?|cours|cursos?"
OTHER_IN_CHINESE = "其他|其它|别的|另外的|不同的?|不一样的?"
MORE_IN_CHINESE = "更多|多几[门个]|再来几[门个]"
COURSES_IN_CHINESE = "课程|网课|课|推荐|选择|选项"
# What a change can be about without saying which way.
ASPECTS = {
    "level": "difficulty|level|schwierigkeit|schwierigkeitsgrad|niveau|difficulté|dificultad|nivel|"
    "难度|级别|程度",
    "hours": "hours|workload|effort|stunden|aufwand|heures|horas|小时|小时数|每周时间|每周的时间|学习量",
    "weeks": "length|duration|weeks|number of weeks|time|pace|dauer|länge|wochen|durée|semaines|duración|"
    "semanas|时间|时长|长度|周数|周期|进度",
    "topics": "topics|subjects|content|contents|themen|inhalt|inhalte|sujets|contenu|temas|contenido|"
    "主题|内容",
}
DENIED = re.compile(
    rf"(?<!{LETTER})(?:no|not|never|nothing|nobody|none|neither|nor|without|unless|cannot|nicht|"
    rf"nichts|kein\w*|nie|ohne|pas|jamais|rien|sans|ni|aucune?|sin|nunca|nada|ningun\w*|ningún)(?!{LETTER})|n't|[不没别勿无甭]"
)
# Signs that deny nothing here.
NO_DENIAL = re.compile(
    "有没有|还有没有|能不能|可不可以|是不是|要不要|好不好|行不行|不同(?!意)|不一样|不错|别的|特别|分别|个别|差不多|"
    "why not|warum nicht|pourquoi pas|por qué no"
)
# Behind the keyword they say what is to be left out.
WITHOUT = whole(table("without|with no|no|ohne|sans|sin"))
# Who is not content and then asks for something denies nothing of what they ask for.
COMPLAINT = re.compile(
    r"(?:not|n't)(?:\s+\w+)?\s+(?:satisfied|like|happy|suit|fit|good|right|enough)\b.{0,60}?"
    r"\b(?=so\b|and\b|please\b|give\b|show\b|i'd\b|i want\b|can\b|could\b)"
    r"|不(?:太|是很|怎么|大)?(?:满意|喜欢|合适|适合|好|行).{0,20}?(?=想|要|请|给|希望|能|可以|麻烦|帮)"
)
AGREED = whole(
    table(
        "approve|approves|approved|agree|agrees|agreed|accept|accepted|confirm|confirmed|keep|genehmigt|einverstanden|approuvé|"
        "d'accord|apruebo|de acuerdo|同意|批准|确认|赞成|保留"
    )
)
WONDERS = whole(
    table(
        "why|how many|how much|how long|what is|what's|when|who|warum|wie|was|pourquoi|comment|cómo|para qué"
    )
)
WONDERS_IN_CHINESE = re.compile("为什么|为何|怎么|多少|几[个门份]|什么(?!其他|其它|别的|更多)")


def _words(latin: str, chinese: str) -> re.Pattern[str]:
    return re.compile(rf"{whole(table(latin)).pattern}|{chinese}")


def _before(one: str, other: str, chinese: str, chinese_other: str) -> re.Pattern[str]:
    """The one right before the other, with at most two words between."""
    between = r"\s+(?:[\w'-]+\s+){0,2}?"
    return re.compile(
        rf"(?<!{LETTER})(?:{one}){between}(?:{other})(?!{LETTER})|(?:{chinese})的?\w{{0,6}}?(?:{chinese_other})"
    )


REDO = _words(AGAIN, AGAIN_IN_CHINESE)
CHANGES = _words(ALTER, rf"{ALTER_IN_CHINESE}|{AGAIN_IN_CHINESE}")
ANOTHER_PLAN = _before(ANOTHER, PLANS, OTHER_IN_CHINESE, "计划|方案|版本")
OTHER_COURSES = _before(OTHER, COURSES, OTHER_IN_CHINESE, COURSES_IN_CHINESE)
MORE_COURSES = _before(MORE, COURSES, MORE_IN_CHINESE, COURSES_IN_CHINESE)
ABOUT = {name: whole(table(words)) for name, words in ASPECTS.items()}


def asks_of_plan(said: str) -> Said:
    """Whether a clause about a plan, in folded text, asks for another one beside what else is in it."""
    return Said.DIFFERENT if _asked(said, REDO) or _asked(said, ANOTHER_PLAN) else Said.SOMETHING


def asks_of_courses(said: str) -> Said:
    """Whether a clause about courses asks for others or for more of them."""
    rest = said
    for words in DIRECTIONS.values():  # "more advanced courses" are not more of them
        rest = words.sub(" ", rest)
    if _asked(rest, OTHER_COURSES) or _asked(rest, REDO):
        return Said.DIFFERENT
    return Said.MORE if _asked(rest, MORE_COURSES) else Said.SOMETHING


def aspect_of(said: str) -> str:
    """What a clause wants changed without saying which way: a key of `ASPECTS`, or ""."""
    if not _asked(said, CHANGES):
        return ""
    return next((name for name, words in ABOUT.items() if words.search(said)), "")


def _asked(said: str, keyword: re.Pattern[str]) -> bool:
    """Whether a keyword is in a clause, and means what it says."""
    found = keyword.search(said)
    if found is None or (ASKING_SIGN.search(said) and not is_asked_for(said)):
        return False
    besides = said[: found.start()] + WITHOUT.sub(" ", said[found.start() :])
    heard = NO_DENIAL.sub(" ", COMPLAINT.sub(" ", besides))
    return not any(each.search(heard) for each in (DENIED, AGREED, WONDERS, WONDERS_IN_CHINESE))
