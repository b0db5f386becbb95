"""The listed phrases: a typed text confirms, approves or refuses only if all of it is one of these."""

from typing import Literal

from answerback.read.normal import bare_and_mood, tidy

YES = {
    "en": "y|yes|yep|yeah|yup|ok|okay|okey|sure|yes please|yes thanks|yes thank you|please do|do it|"
    "yes do it|yes go ahead|please go ahead|go for it|absolutely|definitely|of course|i confirm|"
    "go ahead|proceed|please proceed|confirm|confirmed|correct|agreed|true",
    "de": "j|ja|jawohl|jo|klar|na klar|gerne|gern|ja bitte|ja gerne|ja gern|ja danke|in ordnung|"
    "natürlich|selbstverständlich|auf jeden fall|ich bestätige|"
    "einverstanden|passt|mach das|nur zu|leg los|bestätigt|bestätigen|richtig",
    "fr": "o|oui|ouais|d'accord|d’accord|oui merci|oui s'il te plaît|oui s'il vous plaît|"
    "oui s’il te plaît|oui s’il vous plaît|oui svp|vas-y|vas y|allez-y|allez y|ça marche|ca marche|bien sur|"
    "procède|procédez|bien sûr|c'est bon|c’est bon|je confirme|confirmer",
    "es": "s|sí|si|vale|claro|claro que sí|por supuesto|de acuerdo|sí por favor|si por favor|sí gracias|"
    "adelante|hazlo|hágalo|procede|proceda|"
    "confirmar|confirmo|correcto",
    "it": "sì|si|certo|va bene|d'accordo|d’accordo|procedi|proceda|confermo|esatto",
    "pt": "s|sim|claro|está bem|pode ser|prossiga|pode prosseguir|confirmo|certo|com certeza",
    "nl": "j|ja|jazeker|prima|akkoord|graag|ja graag|doe maar|ga je gang|ga uw gang|klopt|is goed",
    "sv": "ja|japp|jo|visst|gärna|okej",
    "da": "ja|jep|jo|gerne|okay",
    "nb": "ja|jepp|jo|gjerne",
    "fi": "kyllä|joo|juu|selvä",
    "pl": "tak|jasne|dobrze|zgoda|potwierdzam",
    "cs": "ano|jo|dobře|souhlasím|potvrzuji",
    "hu": "igen|rendben|jó",
    "ro": "da|bine|sigur|confirm",
    "ru": "да|ага|хорошо|конечно|ок|окей|подтверждаю|давай",
    "uk": "так|добре|звичайно|підтверджую",
    "tr": "evet|tamam|olur|peki|onaylıyorum",
    "el": "ναι|εντάξει",
    "ar": "نعم|أجل|موافق|تمام",
    "he": "כן|בסדר|אישור",
    "hi": "हाँ|हां|जी हाँ|ठीक है",
    "id": "ya|iya|boleh|setuju",
    "vi": "có|vâng|đồng ý|được",
    "zh": "是|是的|对|对的|好|好的|可以|可以的|"
    "没问题|沒問題|当然|當然|当然可以|行|确认|同意|好啊|是啊|去做吧|就这么办|對|確認",
    "ja": "はい|ええ|うん|了解|お願いします|いいですよ|承知しました|進めてください|hai",
    "ko": "네|예|응|좋아요|그래|진행하세요|진행해 주세요|확인|알겠습니다",
}
NO = {
    "en": "n|no|nope|nah|no thanks|no thank you|don't|don’t|do not|"
    "please don't|please don’t|please do not|don't do it|don’t do it|do not do it|"
    "no way|absolutely not|definitely not|of course not|never|wrong|false",
    "de": "n|nein|nee|nö|nein danke|bitte nicht|lieber nicht|bloß nicht|"
    "auf keinen fall|auf gar keinen fall|falsch|niemals",
    "fr": "n|non|non merci|pas question|hors de question|pas du tout|surtout pas|jamais",
    "es": "n|no|no gracias|claro que no|mejor no|no lo hagas|no lo haga|para nada|nunca|de ninguna manera",
    "it": "n|no|no grazie|assolutamente no|mai",
    "pt": "n|não|nao|não obrigado|não obrigada|nunca",
    "nl": "n|nee|neen|nee bedankt|nooit|liever niet",
    "sv": "nej|nej tack|nix|aldrig",
    "da": "nej|nej tak|aldrig",
    "nb": "nei|nei takk|aldri",
    "fi": "ei|ei kiitos|en",
    "pl": "nie|nie dziękuję|nigdy",
    "cs": "ne|ne děkuji|nikdy",
    "hu": "nem|nem köszönöm|soha",
    "ro": "nu|nu mulțumesc|niciodată",
    "ru": "нет|не надо|нет спасибо|никогда|неа",
    "uk": "ні|не треба|ні дякую|ніколи",
    "tr": "hayır|hayir|yok|olmaz|istemiyorum",
    "el": "όχι|οχι",
    "ar": "لا|كلا|لا شكرا",
    "he": "לא|לא תודה",
    "hi": "नहीं|जी नहीं|मत करो",
    "id": "tidak|jangan|nggak|enggak",
    "vi": "không|không được",
    "zh": "否|不|不是|不行|不要|不可以|不对|不用|不同意|不用了|"
    "不用谢谢|不用了谢谢|不用 谢谢|不用了 谢谢|别|千万别|不要了",
    "ja": "いいえ|いや|だめ|ダメ|やめて|違います|結構です",
    "ko": "아니요|아니오|아니|안 돼요|안돼|싫어요",
}
APPROVE = {
    "en": "approve|approved|yes approve|approve please|i approve|approve it|accept|accepted|lgtm",
    "de": "genehmigen|genehmigt|freigeben|freigegeben|genehmige ich|ich genehmige",
    "fr": "approuver|approuvé|approuvée|validée|acceptée|"
    "j'approuve|j’approuve|accepter|accepté|valider|validé",
    "es": "aprobar|aprobado|aprobada|aceptada|apruebo|lo apruebo|aceptar|aceptado",
    "it": "approvare|approvato|approvo|accetto",
    "pt": "aprovar|aprovado|aprovo|aceito",
    "nl": "goedkeuren|goedgekeurd|akkoord",
    "pl": "zatwierdzam|zatwierdź|akceptuję",
    "ru": "одобряю|одобрить|одобрено|утверждаю",
    "tr": "onayla|onaylandı|onaylıyorum",
    "zh": "批准|同意|通过",
    "ja": "承認|承認します",
    "ko": "승인|승인합니다",
}
REJECT = {
    "en": "reject|rejected|i reject|reject it|deny|denied|decline|declined|refuse|refused|"
    "don't approve|don’t approve|do not approve|not approved|i don't approve|i don’t approve",
    "de": "ablehnen|abgelehnt|lehne ab|ich lehne ab|lehne ich ab|nicht genehmigt|nicht genehmigen|verweigern",
    "fr": "refuser|refusé|refusée|je refuse|rejeter|rejeté|rejetée|ne pas approuver",
    "es": "rechazar|rechazado|rechazada|no aprobar|rechazo|lo rechazo|denegar",
    "it": "rifiutare|rifiutato|rifiuto|respingo",
    "pt": "rejeitar|rejeitado|rejeito|recusar",
    "nl": "afwijzen|afgewezen|weigeren",
    "pl": "odrzucam|odrzuć|odmawiam",
    "ru": "отклоняю|отклонить|отклонено",
    "tr": "reddet|reddedildi|reddediyorum",
    "zh": "拒绝|驳回|不批准|不通过",
    "ja": "却下|却下します|拒否",
    "ko": "거절|거부|거절합니다",
}
EDIT = {
    "en": "edit|change|edit it|change it",
    "de": "ändern|bearbeiten",
    "fr": "modifier|changer",
    "es": "cambiar|modificar|editar",
    "it": "modificare|cambiare",
    "pt": "alterar|modificar|editar",
    "nl": "wijzigen|aanpassen",
    "pl": "zmień|edytuj",
    "ru": "изменить|исправить",
    "tr": "değiştir|düzenle",
    "zh": "修改|更改|编辑",
    "ja": "変更|編集",
    "ko": "수정|변경",
}
# Words that mean something else in another language count only where the person's language is theirs:
# "tak" is Polish for yes and Danish for thanks, "no" is Polish for well, "ne" sounds like the Greek yes;
# "igen" is Swedish for again, "hai" Vietnamese for two, "ano" Filipino for what, "vale" Estonian for wrong,
# 了解 Chinese for having understood.
ONLY_IN = {"tak": {"pl"}, "ne": {"cs"}, "en": {"fi"}, "так": {"uk"}, "s": {"es", "pt"}}
ONLY_IN |= {"o": {"fr"}, "da": {"ro"}, "nu": {"ro"}, "jo": {"de", "sv", "da", "nb", "cs"}, "ya": {"id"}}
ONLY_IN |= {"igen": {"hu"}, "hai": {"ja"}, "了解": {"ja"}, "ano": {"cs"}, "prima": {"nl"}}
NOT_IN = {"no": {"pl", "cs"}, "vale": {"et"}, "klar": {"sv", "da", "nb"}}

Decision = Literal["approve", "reject", "edit"]


def _index(*tables: dict[str, str]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for table in tables:
        for language, phrases in table.items():
            for phrase in phrases.split("|"):
                found.setdefault(tidy(phrase), set()).add(language)
    return {phrase: frozenset(languages) for phrase, languages in found.items()}


_YES, _NO = _index(YES), _index(NO)
_DECISIONS: dict[Decision, dict[str, frozenset[str]]] = {
    "approve": _index(APPROVE),
    "reject": _index(REJECT),
    "edit": _index(EDIT),
}


def yes_or_no(text: str, language: str) -> bool | None:
    """True or False if all of a text is a listed phrase; None if it is anything else.

    An emoji beside the phrase must agree with it, and one alone says what it shows.
    """
    phrase, mood = bare_and_mood(text)
    said = set(mood)
    if phrase:
        meant = {"yes"} if _listed(_YES, phrase, language) else set()
        meant |= {"no"} if _listed(_NO, phrase, language) else set()
        if len(meant) != 1:
            return None
        said |= meant
    return next(iter(said)) == "yes" if len(said) == 1 else None


def decision(text: str, language: str) -> Decision | None:
    """What all of a text decides about an action: its own words first, then yes and no."""
    phrase, mood = bare_and_mood(text)
    found = [name for name, phrases in _DECISIONS.items() if _listed(phrases, phrase, language)]
    if len(found) == 1:
        against = {"approve": "no", "reject": "yes"}.get(found[0], "")
        return None if against in mood else found[0]
    confirmed = yes_or_no(text, language)
    return None if found or confirmed is None else "approve" if confirmed else "reject"


def _listed(phrases: dict[str, frozenset[str]], phrase: str, language: str) -> bool:
    primary = language.replace("_", "-").split("-")[0].lower()
    primary = "nb" if primary in ("no", "nn") else primary
    if phrase not in phrases or primary in NOT_IN.get(phrase, ()):
        return False
    return phrase not in ONLY_IN or primary in ONLY_IN[phrase]
