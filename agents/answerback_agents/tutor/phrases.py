"""The phrases of an answer, in the project's five languages. Each list is one meaning."""

YES = """
y|yes|yep|yeah|ok|okay|sure|agreed|i agree|approve|approved|i approve|confirm|confirmed|accept|accepted|
go ahead|good|fine|great|perfect|looks good|looks good to me|looks fine|sounds good|sounds fine|
sounds great|lgtm|works for me|fine with me|fine by me|of course|certainly|absolutely|do it|ja|j|klar|
gern|gerne|einverstanden|genehmigt|genehmigen|bestätigt|bestätigen|passt|in ordnung|gut|perfekt|
ich stimme zu|natürlich|oui|bien sûr|d'accord|approuvé|approuver|j'approuve|je confirme|confirmer|
confirmé|accepté|validé|ça marche|ça me va|c'est bon|bien|très bien|parfait|sí|si|vale|de acuerdo|
aprobado|aprobar|apruebo|confirmo|confirmar|confirmado|acepto|adelante|está bien|muy bien|bueno|perfecto|
claro|por supuesto|同意|批准|确认|好的|好|可以|是|是的|对|行|通过|没问题|赞成|当然|不错|很好|👍|👌|✅|✔|
agree|agree with|agree to|i agree with|i agree to|approve of|i approve of|i want to approve|
i'd like to approve|
i would like to approve|fine with|ok with|okay with|happy|happy with|let's go|let's start|let's do it|
that works|
that works for me|works|go for it|all good|einverstanden mit|d'accord avec|j'approuve|de acuerdo con|确认无误|
无误|没有问题|没意见|
没有意见|就这样|就这样吧|就这么定|就按这个|按这个来|开始吧|可以开始
"""
DIFFERENT = """
redo|redo it|different|something different|something else|a different|a different one|
another|another one|a new|a new one|new|start over|start again|again|once more|try again|i disagree|
disagree|don't approve|i don't approve|not approved|reject|rejected|not good|
anders|etwas anderes|was anderes|ein anderer|einen anderen|ein neuer|einen neuen|neu|noch einmal|
nochmal|von vorn|abgelehnt|nicht gut|autre chose|un autre|un nouveau|différent|refaire|
recommencer|à refaire|refusé|otra cosa|otro|uno nuevo|diferente|distinto|de nuevo|rehacer|
empezar de nuevo|rechazado|
重新|重新来|重来|重做|重新制定|重新做|重新生成|重新安排|不同|不同的|不一样的|换一个|换个|再来一个|另一个|
do it again|redo this|do it differently|differently|alternative|an alternative|from scratch|
start from scratch|
don't agree|do not agree|do not approve|anderer|anderen|différente|nouveau|distinta|重新规划|重新设计|
重新考虑|不一样|换一份|换一套|另一份|
全新|全新的
"""
# Alone they ask for something different; beside a wish they only say that one follows.
CHANGE = """
change|change it|ändern|changer|modifier|cambiar|modificar|修改|改|改一下|改改|调整|调整一下|换|
changes|some changes|make changes|make some changes|adjust|adjust it|modify|modify it|revise|revise it|rework|
rework it|anpassen|überarbeiten|modifications|cambiarlo|cambiarla|cambios|修改一下|更改|调整下|换一下
"""
# These stand alone: with another phrase behind them ("no change", 不修改) they would say its opposite.
REFUSED = """
no|nope|n|nein|non|不|不行|不好|不可以|不要|不同意|不批准|不对|拒绝|👎|❌
"""
SATISFIED = """
satisfied|suit|suits|suit me|suits me|i like them|zufrieden|gefallen mir|satisfait|satisfaite|me plaisent|
satisfecho|satisfecha|me gustan|满意|喜欢|
satisfied with|i like these|look good|look great|zufrieden mit|satisfait de|satisfaite de|satisfait des|
satisfecho con|satisfecha con
"""
MORE = """
more|some more|any more|even more|more of them|show more|show me more|mehr|noch mehr|noch welche|weitere|
zeig mehr|zeig mir mehr|plus|encore|davantage|montre plus|montre-moi plus|más|algunos más|muestra más|
muéstrame más|更多|多一些|多一点|多几个|再多一些|再来一些|想要更多|想看更多|还有吗|还有更多吗
"""
OTHERS = """
other|others|other ones|some other|some others|show others|show me others|show other ones|different ones|
not satisfied|unsatisfied|don't like|andere|zeig andere|zeig mir andere|unzufrieden|nicht zufrieden|
d'autres|autres|montre d'autres|montre-moi d'autres|pas satisfait|pas satisfaite|otros|otras|muestra otros|
muéstrame otros|insatisfecho|
其他|其他的|其它|别的|另外的|换一批|换一些|想要其他的|想要别的|有其他的吗|有别的吗|what other|which other|
welche anderen|quels autres|qué otros|还有其他的吗|还有别的吗|有其他选择吗|有别的选择吗|有其他课程吗|
有别的课程吗|
不满意|不喜欢
"""
STOP = """
stop|stop it|stop now|stop here|i want to stop|let's stop|let us stop|cancel|cancel it|quit|i quit|enough|
that's enough|never mind|forget it|forget about it|no more questions|
abbrechen|stopp|stop jetzt|aufhören|hör auf|ich möchte aufhören|ich will aufhören|ich möchte abbrechen|
genug|schluss|schluss jetzt|vergiss es|
arrête|arrêtez|arrêter|je veux arrêter|annuler|annulez|assez|ça suffit|laisse tomber|oublie ça|
para|parar|para ya|quiero parar|detener|cancelar|cancela|basta|ya basta|déjalo|olvídalo|
停|停止|停下|停一下|先停一下|取消|算了|不用了|结束|到此为止|我不想继续|不继续了
"""
LATER = """
later|maybe later|ask me later|ask again later|not now|not right now|not today|another time|some other time|
tomorrow|maybe tomorrow|ask me tomorrow|i am busy|i'm busy|busy|i'm busy now|no time now|no time right now|
i have no time now|wait|one moment|just a moment|give me a moment|let me think|let me think about it|
i'll think about it|i need to think|i'll answer later|
später|vielleicht später|frag mich später|frag später|jetzt nicht|nicht jetzt|heute nicht|ein andermal|
ein anderes mal|morgen|vielleicht morgen|jetzt keine zeit|keine zeit jetzt|ich habe jetzt keine zeit|
gerade keine zeit|ich habe gerade keine zeit|warte|moment|einen moment|ich überlege noch|
plus tard|peut-être plus tard|pas maintenant|pas aujourd'hui|une autre fois|demain|peut-être demain|
pas le temps maintenant|je n'ai pas le temps maintenant|je suis occupé|je suis occupée|attends|attendez|
un moment|un instant|laisse-moi réfléchir|je vais réfléchir|j'y réfléchis|
más tarde|quizás más tarde|luego|ahora no|hoy no|en otro momento|otro día|mañana|quizás mañana|
ahora no tengo tiempo|no tengo tiempo ahora|estoy ocupado|estoy ocupada|espera|un momento|déjame pensar|
lo pensaré|
以后|以后再说|稍后|稍后再说|晚点|晚点再说|晚一点|待会|待会儿|等一下|等等|等会|等会儿|回头再说|改天|改天再说|
明天|明天再说|现在不行|现在没空|没空|现在没时间|现在没有时间|在忙|正在忙|很忙|让我想想|我想想|考虑一下|再说
"""
GREETING = """
hi|hello|hey|good morning|good evening|hallo|guten morgen|guten tag|guten abend|servus|bonjour|bonsoir|salut|
hola|buenos días|buenas tardes|buenas|你好|您好|早上好|嗨
"""
THANKS = """
thanks|thank you|thanks a lot|thank you very much|many thanks|danke|vielen dank|danke schön|merci|
merci beaucoup|gracias|muchas gracias|谢谢|谢谢你|多谢|🙏
"""
# Said beside a phrase without changing it, as greetings and thanks are. No word here may turn one around, or
# put a condition.
BESIDE = """
please|very|really|quite|very much|it is|it's|that is|that's|this is|i|i am|i'm|it|this|this one|that|the|
me|and|bitte|sehr|wirklich|das|das ist|es ist|ich|ich bin|der|den|die|dem|diesen|diese|und|mir|
s'il vous plaît|s'il te plaît|c'est|il est|ce|le|je|je suis|et|très|
por favor|el|este|estoy|y|muy|
请|我|我们|对|很|非常|这个|这份|那就|就|都|该|吧|了|啦|啊|呀|的|🙂|😀|😊|🎉|❤|
your|completely|fully|totally|definitely|i find|ich bin mit dem|ich bin mit diesem|ich bin mit den|
ich bin mit diesen|ich finde|je trouve|me parece|me parecen|完全|我觉得|感觉|看起来|看上去|你的|全部|挺|都很
"""
# What a plan is called, and what courses are called. "The courses are good" approves no plan.
A_PLAN = """
plan|draft|learning plan|study plan|version|proposal|the plan is|this plan is|lernplan|der plan ist|entwurf|
plan d'étude|plan d'apprentissage|le plan est|plan de estudio|el plan está|计划|学习计划|方案|学习方案|版本
"""
COURSES = """
course|courses|they|they are|they're|these are|these|them|the courses are|these courses are|kurs|kurse|
sie|sie sind|die kurse sind|cours|ces|les|ils sont|les cours sont|curso|cursos|los|estos|这些|课程|推荐|
classes|options|choices|recommendations|suggestions|die|diese kurse|kursen|unos|unas|选择|选项|课|网课|推荐的
"""
# What stands in a request beside what is asked for: none of it may stand beside "approve".
ASKING = """
i want|i want to|i'd like|i'd like to|i want you to|i'd like you to|i would like|i would like to|i'd prefer|
i would prefer|i prefer|i need|i need to|we need|we need to|we should|i think we should|i'd rather have|give|
give me|show|show me|make|make it|make me|find|find me|recommend|suggest|can you|could you|would you|will you|
can i have|could i have|can i see|can i get|can we|could we|can we have|do you have|have you got|are there|
is there|how about|what about|why not|let's|let me see|for me|to see|see|have|try|a|an|any|some|a few|few|
a bit|a little|slightly|now|instead|also|too|as well|then|so|maybe|perhaps|here|to be|it to be|should be|
must be|needs to be|has to be|needs|order|sequence|approach|way|
ich möchte|ich will|ich hätte gern|ich hätte gerne|ich brauche|gib mir|zeig mir|mach|mach mir|kannst du|
könntest du|kann ich|können wir|gibt es|hast du|haben|sehen|noch|ein|eine|einen|es|ihn|etwas|
je veux|je voudrais|j'aimerais|je préfère|donne-moi|montre-moi|fais|propose|peux-tu|pouvez-vous|pourrais-tu|
puis-je avoir|y a-t-il|est-ce qu'il y a|as-tu|avez-vous|un|une|des|de|du|un peu|voir|
quiero|quisiera|me gustaría|prefiero|necesito|dame|muéstrame|haz|recomienda|puedes|podrías|puedo ver|hay|
tienes|una|un poco|ver|tener|
想|我想|想要|我想要|我要|要|需要|我需要|希望|我希望|还想|还想要|还要|麻烦|麻烦你|帮|帮我|给|给我|为我|请给我|
能|能不能|能否|可以|可不可以|好吗|行吗|有没有|还有|还有没有|有什么|还有什么|有哪些|还有哪些|有一些|再|再来|来|
再给我|推荐|再推荐|给我推荐|介绍|看|看看|看一下|想看|一下|一个|一份|一套|一版|一些|几个|几门|一点|你|您|把|将|
制定|做|生成|安排|设计|进行|完全|顺序|方式
"""
