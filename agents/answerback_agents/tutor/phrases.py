"""The phrases of an answer, in the project's five languages. Each list is one meaning."""

YES = """
y|yes|yep|yeah|ok|okay|sure|agreed|i agree|approve|approved|i approve|confirm|confirmed|accept|accepted|
go ahead|good|fine|great|perfect|looks good|looks good to me|looks fine|sounds good|sounds fine|
sounds great|lgtm|works for me|fine with me|fine by me|of course|certainly|absolutely|do it|ja|j|klar|
gern|gerne|einverstanden|genehmigt|genehmigen|bestätigt|bestätigen|passt|in ordnung|gut|perfekt|
ich stimme zu|natürlich|oui|bien sûr|d'accord|approuvé|approuver|j'approuve|je confirme|confirmer|
confirmé|accepté|validé|ça marche|ça me va|c'est bon|bien|très bien|parfait|sí|si|vale|de acuerdo|
aprobado|aprobar|apruebo|confirmo|confirmar|confirmado|acepto|adelante|está bien|muy bien|bueno|perfecto|
claro|por supuesto|同意|批准|确认|好的|好|可以|是|是的|对|行|通过|没问题|赞成|当然|不错|很好|👍|👌|✅|✔
"""
DIFFERENT = """
redo|redo it|change|different|something different|something else|a different|a different one|
another|another one|a new|a new one|new|start over|start again|again|once more|try again|i disagree|
disagree|don't approve|i don't approve|not approved|reject|rejected|not good|
anders|etwas anderes|was anderes|ein anderer|einen anderen|ein neuer|einen neuen|neu|noch einmal|
nochmal|von vorn|ändern|abgelehnt|nicht gut|autre chose|un autre|un nouveau|différent|refaire|
recommencer|à refaire|changer|modifier|refusé|otra cosa|otro|uno nuevo|diferente|distinto|de nuevo|rehacer|
empezar de nuevo|cambiar|modificar|rechazado|
重新|重新来|重来|重做|重新制定|重新做|重新生成|重新安排|不同|不同的|不一样的|修改|改|调整|换|换一个|换个|
再来一个|另一个
"""
# These stand alone: with another phrase behind them ("no change", 不修改) they would say its opposite.
REFUSED = """
no|nope|n|nein|non|不|不行|不好|不可以|不要|不同意|不批准|不对|拒绝|👎|❌
"""
SATISFIED = """
satisfied|suit|suits|suit me|suits me|i like them|zufrieden|gefallen mir|satisfait|satisfaite|me plaisent|
satisfecho|satisfecha|me gustan|满意|喜欢
"""
MORE = """
more|some more|any more|even more|more of them|mehr|noch mehr|noch welche|weitere|plus|encore|davantage|más|
algunos más|更多|多一些|多一点|多几个|再多一些|再来一些|想要更多|想看更多|还有吗|还有更多吗
"""
OTHERS = """
other|others|other ones|some other|some others|different ones|not satisfied|unsatisfied|don't like|
andere|unzufrieden|nicht zufrieden|d'autres|autres|pas satisfait|pas satisfaite|otros|otras|insatisfecho|
其他|其他的|其它|别的|另外的|换一批|换一些|想要其他的|想要别的|有其他的吗|有别的吗|还有其他的吗|还有别的吗|
不满意|不喜欢
"""
STOP = """
stop|cancel|quit|enough|that's enough|never mind|forget it|abbrechen|stopp|aufhören|genug|schluss|
arrête|arrêter|annuler|assez|laisse tomber|parar|cancelar|basta|déjalo|停|停止|停下|取消|算了|不用了
"""
# Said beside a phrase without changing it. No word here may turn one around, or put a condition.
BESIDE = """
hi|hello|hallo|bonjour|hola|你好|please|thanks|thank you|thanks a lot|very|really|quite|very much|it is|
it's|that is|that's|this is|they are|they're|these are|the plan is|this plan is|the courses are|
these courses are|i|i am|i'm|it|this|this one|that|these|them|the|plan|course|courses|draft|me|and|
bitte|danke|sehr|wirklich|das|das ist|es ist|der plan ist|sie sind|die kurse sind|ich|ich bin|der|den|die|
dem|diesen|diese|kurs|kurse|und|mir|s'il vous plaît|s'il te plaît|merci|c'est|il est|le plan est|ils sont|
les cours sont|ce|ces|le|les|cours|je|je suis|et|très|por favor|gracias|el plan está|el|este|los|estos|
curso|cursos|estoy|y|muy|
请|谢谢|多谢|我|我们|对|很|非常|这个|这份|这些|那就|就|都|该|吧|了|啦|啊|呀|的|计划|学习计划|方案|课程|推荐|
🙏|🙂|😀|😊|🎉|❤
"""
