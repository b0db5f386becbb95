"""The research agent: it proposes terms, asks, takes what was meant, and cites what really stands there."""

import re
from pathlib import Path
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from answerback.errors import ConfigurationError
from answerback_agents import dialects
from answerback_agents.research import Settings, graph, research
from answerback_agents.research.ask import chosen, question
from answerback_agents.research.collection import Cited, Collection, collection, documents
from answerback_agents.research.corrections import meant
from answerback_agents.research.passages import Passage, passages
from answerback_agents.research.summary import summary
from answerback_agents.research.terms import distance, likelier_word, propose, words_of

ROOT = Path(__file__).parents[3]
CODING = {"psr": 9, "best": 30, "practices": 12, "coding": 214, "casting": 2, "messages": 8}
THREAD: RunnableConfig = {"configurable": {"thread_id": "t1"}}


# Search terms


def test_the_words_of_a_topic_that_carry_meaning_are_its_terms() -> None:
    assert words_of("How does the Token find its question? The token!") == ["token", "find", "question"]


def test_common_words_are_terms_only_where_there_are_no_others() -> None:
    assert words_of("who is it") == ["who", "is", "it"]


def test_a_word_that_the_collection_lacks_is_doubted_if_a_near_one_is_frequent() -> None:
    terms = propose("PSR best costing practices", CODING)
    assert [(term["word"], term["likelier"], term["likelier_found"]) for term in terms] == [
        ("psr", "", 0),
        ("best", "", 0),
        ("costing", "coding", 214),
        ("practices", "", 0),
    ]


def test_a_word_that_occurs_is_doubted_only_if_its_neighbour_is_far_more_frequent() -> None:
    assert likelier_word("casting", {"casting": 2, "coasting": 300}) == "coasting"
    assert likelier_word("casting", {"casting": 2, "coasting": 15}) == ""


def test_a_plural_is_no_mistake() -> None:
    assert likelier_word("message", {"message": 1, "messages": 300}) == ""


@pytest.mark.parametrize(
    ("one", "other", "far"),
    [("form", "form", 0), ("form", "from", 1), ("costing", "coding", 2), ("a", "xyz", 3)],
)
def test_the_distance_of_two_words_counts_mistyped_letters(one: str, other: str, far: int) -> None:
    assert distance(one, other, 2) == far


# The question and its answer


def test_the_question_gives_its_reason_and_offers_the_likelier_word() -> None:
    asked = question("PSR best costing practices", propose("PSR best costing practices", CODING))
    reading = dialects.read(asked)
    [what] = reading.questions
    assert what.text == "Search for “PSR best costing practices”?"
    assert reading.context == (
        "Search terms: psr, best, costing, practices.\nI found 0 passages with “costing”, 214 with “coding”."
    )
    assert [choice.label for choice in what.choices] == ["Yes", "Use “coding”"]
    assert what.free_text
    assert reading.expirable


@pytest.mark.parametrize(
    ("answer", "topic"),
    [
        ({"content": "Yes", "choice": "yes"}, "best costing practices"),
        ({"content": "Use “coding”", "choice": "coding"}, "best coding practices"),
        ({"content": "I meant coding", "choice": None}, "coding"),
        ({"content": "tokens on a phone", "choice": None}, "tokens on a phone"),
        ("something written", "something written"),
        ({"content": "No response", "choice": None, "timed_out": True}, None),
    ],
)
def test_an_answer_is_the_topic_as_it_was_with_the_likelier_word_or_in_words_of_ones_own(
    answer: Any, topic: str | None
) -> None:
    assert chosen("best costing practices", propose("best costing practices", CODING), answer) == topic


@pytest.mark.parametrize(
    "text",
    [
        "I meant coding practices",
        "no, I meant “coding practices”.",
        "I really meant to say coding practices",
        "what I meant was coding practices",
        "coding practices is what I meant",
        "coding practices, that's what I meant",
        "I meant coding practices, not costing practices",
        "I meant coding practices not costing practices",
        "I meant coding practices. Thanks!",
        "it should be removed, I meant coding practices",
        "I meant costing, no, I meant coding practices",
        "costing should be coding practices",
        "the word costing should read coding practices",
        "No. It should be coding practices, not costing.",
        "costing should be coded practices, I mean coding practices",
        "Correct to coding practices",
        "please correct it to: coding practices!",
        "correct costing to coding practices",
        "coding practices",
        "coding practices, not costing",
    ],
)
def test_what_was_meant_is_found_in_what_was_written(text: str) -> None:
    assert meant(text, "best costing practices") == "coding practices"


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("mails should be removed, I meant mesage", "mesage"),
        ("it should be distributed systems", "distributed systems"),
        ("it should say removed", "removed"),
        ("I meant is there a limit", "is there a limit"),
        ("I meant messages that are not delivered", "messages that are not delivered"),
    ],
)
def test_what_was_meant_is_taken_whole(text: str, topic: str) -> None:
    assert meant(text, "best costing practices") == topic


@pytest.mark.parametrize(
    "text",
    [
        "coding should be used", "costing should be used everywhere", "it should be removed",
        "messages should be safe", "what should be kept when a run is deleted", "how should it be read",
        "how to correct errors", "correct to-do lists", "this is not what I meant", "messages not delivered",
        "I meant",
    ],
)  # fmt: skip
def test_a_topic_that_only_sounds_like_a_correction_is_taken_as_it_is(text: str) -> None:
    assert meant(text, "best costing practices") == text


# Passages


def test_paragraphs_list_items_and_table_rows_are_passages_and_code_is_not() -> None:
    text = (
        "# A *title*\n\nOne paragraph\nin two lines.\n\n- First `item` here\n- Second item\n  goes on\n\n"
        "| Key | Its meaning here |\n| --- | --- |\n| one | is a number |\n\n"
        "```sh\nnot a passage at all\n```\nAfter the code.\n"
    )
    assert [each.text for each in passages("a.md", text)] == [
        "One paragraph in two lines.",
        "First `item` here",
        "Second item goes on",
        "Key | Its meaning here",
        "one | is a number",
        "After the code.",
    ]
    assert {each.section for each in passages("a.md", text)} == {"A *title*"}


# The search


def found(*texts: str, words: list[str]) -> list[str]:
    index = Collection(Passage("a.md", "", text) for text in texts)
    return [passage["text"] for passage in index.search(words).passages]


def test_a_term_is_found_as_a_whole_word_in_any_case() -> None:
    assert found("he asked her", "the task", "Ask me", "ask_human", words=["ask"]) == ["Ask me"]


def test_passages_with_all_words_win_and_otherwise_those_with_some_are_found() -> None:
    texts = "red and green", "only red", "only blue"
    assert found(*texts, words=["red", "green"]) == ["red and green"]
    assert found(*texts, words=["green", "blue"]) == ["only blue", "red and green"]


def test_what_a_person_writes_is_never_a_query_of_its_own() -> None:
    assert found("one OR two", "a * star", words=['"', "NEAR(", "*", "or"]) == ["one OR two"]


def test_the_collection_is_the_documents_of_this_project() -> None:
    names = set(documents())
    assert {"README.md", "CHANGELOG.md", "docs/concepts.md", "docs/security.md"} <= names
    assert names == {"README.md", "CHANGELOG.md"} | {
        f"docs/{file.name}" for file in (ROOT / "docs").glob("*.md") if file.name != "reference.md"
    }
    assert len(collection().vocabulary) > 1000


# The graph


def run(topic: str, answer: Any) -> dict[str, Any]:
    graph = research().compile(checkpointer=InMemorySaver())
    paused = graph.invoke({"topic": topic}, THREAD)
    [waiting] = paused["__interrupt__"]
    result: dict[str, Any] = graph.invoke(Command(resume={waiting.id: answer}), THREAD)
    return result


def test_the_report_cites_only_passages_that_contain_the_term_and_stand_in_their_document() -> None:
    result = run("which question a massage is for", {"content": "I meant token", "choice": None})
    assert len(result["passages"]) > 3
    for passage in result["passages"]:
        assert re.search(r"\btoken\b", passage["text"], re.IGNORECASE)
        assert passage["text"] in " ".join(documents()[passage["document"]].split())
        assert passage["text"] in result["report"]
        assert passage["document"] in result["report"]


def test_the_likelier_word_takes_the_place_of_the_mistaken_one() -> None:
    result = run("which question a massage is for", {"content": "Use “message”", "choice": "message"})
    assert "on “which question a message is for”" in result["report"]
    for passage in result["passages"]:
        assert {"message", "question"} <= set(re.findall(r"\w+", passage["text"].lower()))


def test_a_word_that_is_nowhere_gives_an_honest_report() -> None:
    result = run("zebra crossings", {"content": "zebra", "choice": None})
    assert result == {
        "report": "No passages on “zebra”.\n\nNone of the documents has “zebra”.",
        "passages": [],
        "topic": "zebra",
        "search_terms": ["zebra"],
        "additional_context": "zebra",
    }


def test_it_ends_with_what_was_searched_for_and_what_the_person_wrote() -> None:
    result = run("which question a massage is for", {"content": "I meant token, please", "choice": None})
    assert (result["topic"], result["search_terms"]) == ("token", ["token"])
    assert result["additional_context"] == "I meant token, please"
    tapped = run("which question a massage is for", {"content": "Use “message”", "choice": "message"})
    assert tapped["additional_context"] == ""


def test_the_gist_comes_first_word_for_word_with_the_number_of_its_passage() -> None:
    result = run("how an answer finds its question", {"content": "Yes", "choice": "yes"})
    gist = re.findall(r"^- (.+) \[(\d+)\]$", result["report"], re.MULTILINE)
    assert 0 < len(gist) <= 3
    for sentence, number in gist:
        assert sentence in result["passages"][int(number) - 1]["text"]


def test_the_gist_is_of_the_sentences_with_the_most_terms_and_none_twice() -> None:
    texts = [
        "An answer. An answer finds its question.",
        "An answer finds its question.",
        "An answer | a question | a row of a table.",
    ]
    passages = [Cited(document="a.md", section="", text=text) for text in texts]
    assert summary(["answer", "question"], passages) == [("An answer finds its question.", 1)]
    assert summary(["answer"], passages[:1]) == []


def test_silence_searches_for_nothing() -> None:
    result = run("tokens", {"content": "No response", "choice": None, "timed_out": True})
    assert result["passages"] == []
    assert "nothing was searched" in result["report"]


@pytest.mark.parametrize("topic", ["", "   ", None, 7])
def test_a_missing_topic_is_explained(topic: Any) -> None:
    with pytest.raises(ValueError, match="say what to look for"):
        research().compile(checkpointer=InMemorySaver()).invoke({"topic": topic}, THREAD)


# A correction that is mistaken itself


class Talk:
    """A run of the graph, and what it asks."""

    def __init__(self, topic: str, settings: Settings = Settings()) -> None:
        self.graph = research(settings).compile(checkpointer=InMemorySaver())
        self.asked: list[dict[str, Any]] = []
        self._went(self.graph.invoke({"topic": topic}, THREAD))

    def _went(self, output: dict[str, Any]) -> None:
        self.waiting = output.pop("__interrupt__", [])
        self.asked += [each.value for each in self.waiting]
        self.result = {} if self.waiting else output

    def answer(self, *answers: Any) -> "Talk":
        for answer in answers:
            [interrupt] = self.waiting
            self._went(self.graph.invoke(Command(resume={interrupt.id: answer}), THREAD))
        return self


SILENCE = {"content": "No response", "choice": None, "timed_out": True}


def wrote(text: str) -> dict[str, Any]:
    return {"content": text, "choice": None}


def test_a_correction_with_a_likelier_spelling_is_asked_about_again() -> None:
    talk = Talk("tokens").answer(wrote("I meant mesage"))
    again = talk.asked[1]
    assert again["question"] == "Search for “mesage”?"
    assert [choice["label"] for choice in again["choices"]] == ["Yes", "Use “message”"]
    assert again["context"].startswith("Search terms: mesage.\nI found 0 passages with “mesage”, ")


def test_what_is_chosen_then_is_searched_and_what_was_written_before_is_not_lost() -> None:
    result = Talk("tokens").answer(wrote("I meant mesage"), {"content": "", "choice": "message"}).result
    assert (result["topic"], result["search_terms"]) == ("message", ["message"])
    assert result["additional_context"] == "I meant mesage"
    assert len(result["passages"]) > 3


def test_who_says_it_again_is_not_asked_again() -> None:
    for said in ({"content": "Yes", "choice": "yes"}, wrote("mesage"), wrote("I meant mesage, really")):
        talk = Talk("tokens").answer(wrote("I meant mesage"), said)
        assert len(talk.asked) == 2
        assert talk.result["search_terms"][0] == "mesage"


def test_who_keeps_a_doubtful_word_of_the_topic_is_not_asked_about_it_again() -> None:
    assert Talk("a massage on a phone").answer(wrote("a massage for somebody")).result


def test_a_word_that_occurs_is_not_doubted_in_a_correction() -> None:
    vocabulary = collection().vocabulary
    rare = next(word for word in vocabulary if likelier_word(word, vocabulary))
    assert Talk("tokens").answer(wrote(f"I meant {rare}")).result["search_terms"] == [rare]


def test_after_two_mistaken_corrections_it_goes_on_with_what_they_said() -> None:
    talk = Talk("tokens").answer(wrote("mesage"), wrote("massage"), wrote("messagge"))
    assert len(talk.asked) == 3
    assert talk.result["search_terms"] == ["messagge"]
    assert talk.result["additional_context"] == "mesage\nmassage\nmessagge"


def test_silence_after_a_correction_leaves_what_was_written() -> None:
    result = Talk("tokens").answer(wrote("I meant mesage"), SILENCE).result
    assert (result["topic"], result["search_terms"]) == ("mesage", ["mesage"])
    assert result["report"].startswith("No passages on “mesage”.")


def test_a_second_run_on_the_same_thread_knows_nothing_of_the_first() -> None:
    talk = Talk("tokens").answer(wrote("mesage"), wrote("massage"), wrote("messagge"))
    talk._went(talk.graph.invoke({"topic": "tokens"}, THREAD))
    talk.answer(wrote("mesage"))
    assert talk.asked[-1]["question"] == "Search for “mesage”?"
    assert talk.answer(SILENCE).result["additional_context"] == "mesage"


# A folder of one's own


def folder(tmp_path: Path, **texts: str) -> Settings:
    for name, text in texts.items():
        file = tmp_path / name.replace("__", "/").replace("_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return Settings(documents=str(tmp_path))


def test_the_texts_of_a_folder_are_searched_instead_of_those_that_come_along(tmp_path: Path) -> None:
    settings = folder(
        tmp_path,
        tea_md="# Tea\n\nGreen tea is steamed.\n",
        more__soup_txt="\ufeffA soup wants salt.\n\nTea goes with soup.\n",
        data_csv="tea, soup, salt",
        **{".hidden__tea_md": "No tea is shown here."},
    )
    result = Talk("tea", settings).answer({"content": "Yes", "choice": "yes"}).result
    assert sorted((each["document"], each["section"], each["text"]) for each in result["passages"]) == [
        ("more/soup.txt", "", "Tea goes with soup."),
        ("tea.md", "Tea", "Green tea is steamed."),
    ]


def test_the_agent_is_made_from_the_options_of_the_configuration(tmp_path: Path) -> None:
    folder(tmp_path, tea_md="Green tea is steamed.")
    made = graph({"documents": str(tmp_path)}).compile(checkpointer=InMemorySaver())
    [asked] = made.invoke({"topic": "tea"}, THREAD)["__interrupt__"]
    assert "I found passages: 1 with “tea”." in asked.value["context"]


def test_a_folder_without_anything_to_search_is_refused_with_what_it_needs(tmp_path: Path) -> None:
    empty, other, thin, latin = (tmp_path / name for name in ("empty", "other", "thin", "latin"))
    for each in (empty, other, thin, latin):
        each.mkdir()
    (other / "a.pdf").write_bytes(b"%PDF")
    (thin / "a.md").write_text("# Tea\n\nNo.\n")
    (latin / "a.txt").write_bytes("Thé vert à la menthe".encode("latin-1"))
    nothing = "options.documents: there is no Markdown or text (.md, .markdown, .txt) in {}"
    for place, said in (
        (tmp_path / "gone", "options.documents: there is no folder {}"),
        (latin / "a.txt", "options.documents: {} is a file; name the folder"),
        (empty, nothing),
        (other, nothing),
        (thin, "options.documents: there is nothing to cite in {}; write sentences of three words or more"),
        (latin, "options.documents: {}/a.txt is not in UTF-8; save it in UTF-8"),
    ):
        with pytest.raises(ConfigurationError) as error:
            graph({"documents": str(place)})
        assert str(error.value) == said.format(place)


def test_an_option_that_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="options: there is no folder; there are documents"):
        graph({"folder": "x"})
