"""The queries that a session suggests: words that a search engine finds something for, in every language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.sessions.queries import suggest_queries
from specloom.domains.sessions.session import Gap, SitedSource
from specloom.domains.sessions.sources import SourceCoverage, describe_coverage
from specloom.domains.text import load_languages

NOTHING = describe_coverage([])


def cover(kind: str = "web") -> SourceCoverage:
    return describe_coverage([SitedSource(url=f"https://a.example/{at}", kind=kind) for at in range(4)])


def suggest(goal: str, *gaps: str, coverage: SourceCoverage = NOTHING) -> list[str]:
    return suggest_queries(goal, [Gap(description=gap) for gap in gaps], coverage)


def test_queries_go_where_the_session_has_not_been() -> None:
    gaps = ("Which otters were counted in 2019?", "otter numbers are still unknown", "why")

    assert suggest("otter numbers", *gaps, coverage=cover("academic")) == [
        "otter numbers otters counted 2019 after:2019",
        "otter numbers latest",
        "otter numbers -site:a.example",
        "otter numbers news",
    ]
    assert suggest("", *gaps) == ["otters counted 2019 after:2019", "otter numbers"]
    assert len(suggest("g", *(f"question word{at}" for at in range(9)), coverage=cover())) == 6


def test_queries_fit_a_search_whatever_their_goal() -> None:
    goal = "Find out what the otters of the coast of Wales eat in winter and who counts them"
    long = suggest("otter " * 400, "crab " + "x" * 900, "獺" * 900, coverage=cover())

    assert suggest(goal, "Which crabs?", coverage=cover()) == [
        "otters coast Wales eat winter counts crabs",
        "otters coast Wales eat winter counts -site:a.example",
        "otters coast Wales eat winter counts peer-reviewed",
    ]
    assert max(map(len, long)) <= 400
    assert long[0].endswith("otter crab")
    assert set(long[1].rpartition(" ")[2]) == {"獺"}


ASKED = {
    "en": ("How do otters eat?", "And in winter?", "otters eat winter", "latest"),
    "de": ("Wie fressen die Otter im Winter?", "Welche Krebse?", "fressen Otter Winter Krebse", "neueste"),
    "fr": ("Comment mangent les loutres en hiver ?", "De l’eau douce ?", "mangent loutres hiver eau douce", "récent"),
    "es": ("¿Qué comen las nutrias en invierno?", "¿Qué peces?", "comen nutrias invierno peces", "reciente"),
    "it": ("Che cosa mangiano le lontre d'inverno?", "Quali pesci?", "mangiano lontre inverno pesci", "recente"),
    "pt": ("O que comem as lontras no inverno?", "Quais peixes?", "comem lontras inverno peixes", "recente"),
    "nl": ("Wat eten otters in de winter?", "Welke vissen?", "eten otters winter vissen", "nieuwste"),
    "sv": ("Vad äter uttrar på vintern?", "Vilka kräftor?", "äter uttrar vintern kräftor", "senaste"),
    "da": ("Hvad spiser oddere om vinteren?", "Hvilke krebs?", "spiser oddere vinteren krebs", "nyeste"),
    "no": ("Hva spiser otere om vinteren?", "Hvilke kreps?", "spiser otere vinteren kreps", "nyeste"),
    "fi": ("Mitä saukot syövät talvella?", "Mitkä ravut?", "saukot syövät talvella ravut", "uusin"),
    "pl": ("Co jedzą wydry zimą?", "Które raki?", "jedzą wydry zimą raki", "najnowsze"),
    "cs": ("Co jedí vydry v zimě?", "Které ryby?", "jedí vydry zimě ryby", "nejnovější"),
    "ru": ("Что едят выдры зимой?", "Какие раки?", "едят выдры зимой раки", "новейшие"),
    "uk": ("Що їдять видри взимку?", "Які раки?", "їдять видри взимку раки", "найновіші"),
    "tr": ("Kunduzlar kışın ne yer?", "Hangi yengeç?", "Kunduzlar kışın yer yengeç", "güncel"),
    "id": ("Apa yang dimakan berang-berang?", "Kepiting mana?", "dimakan berang-berang Kepiting", "terbaru"),
    "ro": ("Ce mănâncă vidrele iarna?", "Care pești?", "mănâncă vidrele iarna pești", "recent"),
    "hu": ("Mit esznek a vidrák télen?", "Melyik rákok?", "esznek vidrák télen rákok", "legújabb"),
    "el": ("Τι τρώνε οι βίδρες;", "Ποια καβούρια;", "τρώνε βίδρες καβούρια", "πρόσφατα"),
    "ar": ("ماذا تأكل ثعالب الماء في الشتاء؟", "كم عددها؟", "تأكل ثعالب الماء الشتاء عددها", "أحدث"),
    "hi": ("ऊदबिलाव सर्दियों में क्या खाते हैं?", "कितने केकड़े?", "ऊदबिलाव सर्दियों खाते केकड़े", "नवीनतम"),
    "ja": ("カワウソは何を食べますか？", "カニ？", "カワウソは何を食べますか カニ", "最新"),
    "zh": ("水獺在冬天吃什么？", "螃蟹？", "水獺在冬天吃什么 螃蟹", "最新"),
    "ko": ("수달은 겨울에 무엇을 먹나요?", "어떤 게?", "수달은 겨울에 먹나요 게", "최신"),
}


@pytest.mark.parametrize("code", ASKED)
def test_a_question_is_asked_of_a_search_engine_in_the_words_that_find_something(code: str) -> None:
    goal, gap, query, newest = ASKED[code]
    queries = suggest(goal, gap, goal, coverage=cover())

    assert queries[0] == query
    assert queries[1].endswith(f" {newest}"), "what is asked for beside the words is in their language"
    assert not any(set('"?¿？؟;') & set(one) for one in queries)
    assert len(queries) == 4


def test_every_language_that_is_known_by_its_words_can_be_asked_in() -> None:
    assert set(ASKED) == set(load_languages())


@pytest.mark.parametrize(
    ("goal", "gap", "query"),
    [
        ('effects of "sea otter" decline', "Which kelp?", 'effects "sea otter" decline kelp'),
        ("„Der Prozess“ von Franz Kafka", "Wann geschrieben?", '"Der Prozess" Franz Kafka geschrieben'),
        ("«Война и мир» и его критики", "Кто писал?", '"Война и мир" критики писал'),
        ("What did Marie Curie die of?", "Who treated Marie Curie in Paris?", '"Marie Curie" die treated Paris'),
        ("Marie Curie", "radium?", '"Marie Curie" radium'),
        ("otters", "What of Monterey Bay?", 'otters "Monterey Bay"'),
        ("otters", 'What of "otters"?', "otters latest"),
        ("How Do Otters Eat?", "In Winter?", "Otters Eat Winter"),
        ("vitamin A in the US", "Which doses?", "vitamin A US doses"),
        ("Otter -fish", "Crabs -- or mussels?", "Otter fish Crabs mussels"),
        ("why", "what", "why latest"),
    ],
)
def test_names_and_what_was_quoted_stand_between_quotes_and_nothing_else(goal: str, gap: str, query: str) -> None:
    assert suggest(goal, gap)[0] == query


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_goal_gives_queries_with_their_quotes_closed(goal: str, gap: str) -> None:
    for query in suggest(goal, gap, coverage=cover()):
        assert query.count('"') % 2 == 0
        assert 0 < len(query) <= 400


@pytest.mark.parametrize(
    ("gap", "asked"),
    [
        ("what about -site:x.example?", "otter numbers -site:x.example"),
        ("counts (-site:x.example)", "otter numbers counts -site:x.example"),
        ('counts -"river survey"', 'otter numbers counts -"river survey"'),
        ("how does -fPIC work?", 'otter numbers "-fPIC" work'),
        ("what is -O2=fast?", 'otter numbers "-O2=fast"'),
        ("counts -rivers", "otter numbers counts rivers"),
        ("what says --help?", 'otter numbers says "--help"'),
        ("counts - rivers -- lakes", "otter numbers counts rivers lakes"),
    ],
)
def test_what_a_question_keeps_out_is_not_asked_for_and_an_option_is_not_kept_out(gap: str, asked: str) -> None:
    assert suggest("otter numbers", gap) == [asked]
