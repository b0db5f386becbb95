"""The words by which feedback is read, in the project's five languages. Each list is one meaning."""

import re

from answerback_agents.tutor.catalogue import whole

SHORTER = """
shorter|short|fewer weeks|less weeks|less time|too long|faster|quicker|kürzer|weniger wochen|weniger zeit|
zu lang|schneller|plus court|moins de semaines|moins de temps|trop long|plus vite|más corto|menos semanas|
menos tiempo|demasiado largo|más rápido|短一点|短一些|短点|更短|缩短|太长|太长了|快一点|更快|少几周
"""
LONGER = """
longer|more weeks|more time|too short|too fast|slower|länger|mehr wochen|mehr zeit|zu kurz|zu schnell|
langsamer|plus long|plus de semaines|plus de temps|trop court|trop vite|más largo|más semanas|más tiempo|
demasiado corto|demasiado rápido|más lento|长一点|长一些|更长|延长|太短|太快|慢一点|更慢|多几周|更多时间
"""
LIGHTER = """
shorter hours|fewer hours|less hours|less work|less a week|less per week|too much|too much work|
too many hours|lighter|weniger stunden|weniger arbeit|weniger pro woche|zu viel|moins d'heures|
moins de travail|menos horas|menos trabajo|demasiadas horas|每周少一点|每周时间少一点|时间少一点|减少时间|
小时太多|太多了|轻松一点|轻松一些
"""
HEAVIER = """
more hours|longer hours|more work|too little|more intensive|mehr stunden|mehr arbeit|mehr pro woche|
zu wenig|intensiver|plus d'heures|plus de travail|plus intensif|más horas|más trabajo|más intenso|
每周多一点|时间多一点|增加时间|更多小时|太少|太少了
"""
EASIER = """
easier|simpler|simple|easy|beginner|beginners|too hard|too difficult|too advanced|einfacher|leichter|
anfänger|zu schwer|plus facile|plus simple|débutant|débutants|trop difficile|más fácil|principiante|
principiantes|demasiado difícil|简单|简单一点|容易|初级|入门|太难
"""
HARDER = """
harder|advanced|more advanced|more difficult|too easy|too simple|schwieriger|anspruchsvoller|
fortgeschritten|fortgeschrittene|zu einfach|zu leicht|plus difficile|avancé|avancés|trop facile|
más difícil|avanzado|avanzados|demasiado fácil|难一点|高级|进阶|太简单|太容易
"""
OUT = """
without|no|not|skip|drop|remove|omit|leave out|cut|exclude|delete|don't|do not|don't want|do not want|
don't need|do not need|don't like|no need for|instead of|less|already know|know already|i know|
already done|ohne|kein|keine|keinen|nicht|weglassen|streichen|raus|weniger|statt|kenne ich|kann ich schon|
kenne ich schon|brauche ich nicht|will ich nicht|sans|pas|pas de|enlever|enlève|retirer|supprimer|
je connais|je connais déjà|moins de|sin|quitar|quita|eliminar|ya conozco|ya sé|menos|去掉|删掉|删除|不要|
不用|不想|不想学|不学|不需要|跳过|已经学过|已经会|学过|别|少
"""
IN = """
add|include|with|more|want|need|also|plus|like|keep|don't know|do not know|don't skip|do not skip|
don't drop|don't remove|do not remove|don't leave out|behalten|nicht weglassen|nicht streichen|
kenne ich nicht|garder|garde|mantener|保留|不会|不懂|不要删|不要跳过|别删|mit|dazu|mehr|auch|brauche|will|
möchte|ajouter|ajoute|avec|aussi|je veux|plus de|añadir|añade|con|también|quiero|más|加上|加入|加|增加|
想学|想要|想|要|需要|更多|多
"""
# Only right after these is a topic of another goal meant: "sounds" and "questions" are everyday words too.
ADD = """
add|include|also|plus|dazu|auch|ajouter|ajoute|aussi|añadir|añade|también|加上|加入|加|增加|想学|还要|也要
"""
# Before a direction: then it is none.
TURNED = """
not|no|don't|do not|doesn't|isn't|never|nicht|kein|keine|pas|jamais|不|别|不要|不用|不是|没有
"""

# What a clause is about that names it. A plan may be called a course, but not courses.
COURSES = """
courses|kurse|kursen|les cours|des cours|de cours|ces cours|cursos|课程|网课
"""
COURSE = """
course|class|classes|kurs|cours|curso|clase|clases|课
"""
PLAN = """
plan|the plan's|lernplan|plan d'étude|plan de estudio|计划|学习计划|方案
"""
# With a question mark behind it, a clause that begins so wants to know something.
ASKED = """
why|what|what's|when|where|who|whose|how|which|is|are|am|was|were|do|does|did|has|have|will|
warum|wieso|weshalb|was|wann|wo|wer|wie|welche|welcher|welches|womit|wozu|ist|sind|war|hat|haben|habe|wird|
muss|brauche|brauchen|gibt es|lerne|kommt|kommen|
pourquoi|que|quoi|qu'est-ce|quand|où|qui|comment|quel|quelle|quels|quelles|combien|est-ce|est|sont|ai-je|
faut-il|dois-je|y a-t-il|c'est quoi|
por qué|qué|cuándo|dónde|quién|cómo|cuál|cuáles|cuánto|cuántas|cuántos|para qué|es|son|está|están|hay|
tengo que|necesito|debo
"""
ASKED_IN_CHINESE = "为什么|什么|怎么|谁|哪|多少|几|吗|呢|是不是|有没有"
# Then it is a wish all the same.
ASKED_FOR = """
can you|could you|can we|could we|can i have|could i have|can it|could it|would you|will you|is it possible|
how about|what about|why not|what if|kannst du|könntest du|können wir|könnten wir|kann ich|geht es|geht das|
ist es möglich|wie wäre|warum nicht|was ist mit|peux-tu|pourrais-tu|pouvez-vous|pourriez-vous|peut-on|
on peut|est-ce possible|est-ce que tu peux|est-ce qu'on peut|pourquoi pas|et si|puedes|podrías|podemos|
podríamos|se puede|es posible|por qué no|qué tal|y si
"""
ASKED_FOR_IN_CHINESE = "可以|可不可以|能不能|能否|能|行不行|行吗|好不好|好吗|要不|为什么不|怎么样"
# So is who asks whether there are any.
OFFERED = """
do you have|have you got|are there|is there|what other|which other|gibt es|hast du|welche anderen|y a-t-il|
est-ce qu'il y a|as-tu|avez-vous|hay|tienes
"""
OFFERED_IN_CHINESE = "有没有|还有|有什么(?!不同|不一样)|有哪些(?!不同|不一样)|有其他|有其它|有别的|有更多"


def table(listed: str) -> list[str]:
    """The words of a list."""
    return [word.strip() for word in listed.split("|")]


DIRECTIONS = {
    "lighter": whole(table(LIGHTER)),
    "heavier": whole(table(HEAVIER)),
    "shorter": whole(table(SHORTER)),
    "longer": whole(table(LONGER)),
    "easier": whole(table(EASIER)),
    "harder": whole(table(HARDER)),
}
SIGN_OF = dict.fromkeys(table(OUT), "out") | dict.fromkeys(table(IN), "in")
SIGN = whole(SIGN_OF)
ADDING = re.compile(
    rf"(?:{whole(table(ADD)).pattern})\s*(?:some|a bit of|a little|etwas|un peu de|un poco de|一些|一点)?\s*$"
)
TURN = re.compile(rf"(?:{whole(table(TURNED)).pattern})(?:\s+(?:make|be|it|so|that|too|zu|trop|tan))*\s*$")
NAMES_COURSES = whole(table(COURSES))
NAMES_A_COURSE = whole(table(COURSES) + table(COURSE))
NAMES_A_PLAN = whole(table(PLAN))
QUESTION = re.compile(
    rf"[\W_]*(?:(?:and|und|et|y)\s+)?(?:{whole(table(ASKED)).pattern})|.*(?:{ASKED_IN_CHINESE})"
)
REQUEST = re.compile(rf"(?:{whole(table(ASKED_FOR)).pattern})|{ASKED_FOR_IN_CHINESE}")
OFFER = re.compile(rf"(?:{whole(table(OFFERED)).pattern})|{OFFERED_IN_CHINESE}")
ASKING_SIGN = re.compile("[?？吗呢]")
