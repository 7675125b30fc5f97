"""Stakes of authors: what a biography says with a role or a verb, and what it only mentions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.trust.sources.conflicts import find_conflict, find_entities

TITLE = "Otterware is the best fish finder for small rivers"


@pytest.mark.parametrize(
    ("biography", "kind", "confidence"),
    [
        ("Ann is an engineer at Otterware.", "employed_by", "high"),
        ("Senior product manager at Otterware Inc.", "employed_by", "high"),
        ("Ann Otter, founder of Otterware", "employed_by", "high"),
        ("Otterware CEO and mother of two.", "employed_by", "high"),
        ("Otterware's co-founder", "employed_by", "high"),
        ("She works on sonar at Otterware GmbH.", "employed_by", "high"),
        ("He founded Otterware in 2019.", "employed_by", "high"),
        ("CEO, Otterware", "employed_by", "high"),
        ("Her work is funded by Otterware.", "funded_by", "medium"),
        ("Supported by a grant from Otterware", "funded_by", "medium"),
        ("Advisor to Otterware and others.", "owns_equity", "medium"),
        ("He owns shares in Otterware.", "owns_equity", "medium"),
        ("Investor in Otterware", "owns_equity", "medium"),
    ],
)
def test_a_stake_is_found_with_its_kind_and_its_words(biography: str, kind: str, confidence: str) -> None:
    found = find_conflict(biography, TITLE)

    assert found is not None
    assert (found.conflict_type, found.confidence, found.cited_entity_name) == (kind, confidence, "Otterware")
    assert str(found.author_affiliation) in biography
    assert str(found.evidence) in biography


@pytest.mark.parametrize(
    ("biography", "title"),
    [
        ("", TITLE),
        ("Ann lives by a river and likes Otterware.", TITLE),
        ("Former engineer at Otterware, now a fisher.", TITLE),
        ("Previously an editor at Otterware.", TITLE),
        ("Engineer at Otterwarehouse.", TITLE),
        ("Engineer at otterware.example.", "Holt 2000"),
        ("She lives in Austin, Texas.", "Austin walks"),
        ("Best known for her work at Holt.", "Best fish finders"),
        ("Manager at Otter News.", "The best finders for you"),
        ("Writes about fish, rivers, Otterware, and the sea.", TITLE),
    ],
)
def test_what_is_only_mentioned_is_no_stake(biography: str, title: str) -> None:
    assert find_conflict(biography, title) is None


def test_names_in_a_title_are_found_whole_and_in_their_words() -> None:
    assert find_entities("Why Weir Holt beats Otterware's Pro plan") == ["Weir Holt", "Weir", "Holt", "Otterware"]


@given(st.text(max_size=200), st.text(max_size=100))
def test_any_text_has_an_answer(biography: str, title: str) -> None:
    find_conflict(biography, title)


@pytest.mark.parametrize(
    "biography",
    [
        "Bob was an engineer at Otterware.",
        "Bob is not affiliated with or funded by Otterware.",
        "Bob has no shares in Otterware and is not paid by Otterware.",
        "Bob doesn't work for Otterware.",
        "Bob is a consultant with clients at Otterware's competitors.",
        "Bob is a partner of Otterware's rival.",
        "Bob is director of the Otterware research group for cancer.",
        "Bob is an analyst who writes for Otterware users.",
        "Bob works with Otterware every day.",
        "Bob is a developer of Otterware clusters.",
        "Bob shares Otterware tips.",
    ],
)
def test_who_denies_left_or_only_uses_it_has_no_stake(biography: str) -> None:
    assert find_conflict(biography, "Otterware is the best fish finder") is None


@pytest.mark.parametrize(
    "biography",
    [
        "Co-founder & CTO @ Otterware",
        "Bob is an engineer at Otterware working on search.",
        "Bob is an engineer at Otterware Inc. and lives by a river.",
        "Bob, CEO, Otterware",
        "Bob is not an expert. He works for Otterware.",
    ],
)
def test_who_works_there_has_one(biography: str) -> None:
    found = find_conflict(biography, "Otterware is the best fish finder")

    assert found is not None
    assert (found.conflict_type, found.cited_entity_name) == ("employed_by", "Otterware")


GERMAN = "Otterware ist das beste CRM für Vertrieb"


@pytest.mark.parametrize(
    "biography",
    [
        "Mitgründer und Geschäftsführer von Otterware",
        "Ingenieur bei Otterware",
        "Sie arbeitet als Entwicklerin bei Otterware.",
        "Otterware-Mitgründer",
        "Er hat Otterware mitgegründet.",
        "Aktionärin von Otterware",
        "Gefördert von Otterware",
        "Cofondatrice et directrice générale de Otterware",
        "Il travaille chez Otterware.",
        "Actionnaire de Otterware",
        "Cofundador y director general de Otterware",
        "Trabaja como ingeniera en Otterware",
        "Cofondatore e amministratore delegato di Otterware",
        "Lavora presso Otterware",
        "Cofundador e diretor da Otterware",
        "Trabalha na Otterware",
        "Сооснователь и генеральный директор Otterware",
        "Работает в Otterware",
        "Otterwareの共同創業者",
        "Otterwareに勤務",
        "Otterware联合创始人",
        "任职于Otterware",
        "Fils de Paris, PDG de Otterware.",
        "Co-founder & CTO @ Otterware",
        "Former teacher. Engineer at Otterware since 2015.",
        "Former engineer at Otterware; now CEO of Otterware",
    ],
)
def test_a_stake_is_found_in_nine_languages(biography: str) -> None:
    found = find_conflict(biography, GERMAN)

    assert found is not None
    assert found.cited_entity_name == "Otterware"
    assert str(found.evidence) in biography


@pytest.mark.parametrize(
    "biography",
    [
        "Ehemaliger Geschäftsführer von Otterware",
        "Früher Entwicklerin bei Otterware",
        "Sie war Mitgründerin von Otterware.",
        "Er arbeitet nicht bei Otterware.",
        "Er ist kein Mitarbeiter von Otterware.",
        "Nutzer und Kritiker von Otterware",
        "Entwickler und Fan von Otterware",
        "Geschäftsführer von Otterware bis 2019",
        "Geschäftsführerin von Otterware (2010–2015)",
        "Ex-Otterware-Chef",
        "Ancien directeur de Otterware",
        "Elle ne travaille pas chez Otterware",
        "Antiguo director de Otterware",
        "No trabaja en Otterware",
        "Ex direttore di Otterware",
        "Non lavora presso Otterware",
        "Foi diretor da Otterware",
        "Não trabalha na Otterware",
        "Бывший директор Otterware",
        "Он не работает в Otterware",
        "元Otterwareのエンジニア",
        "Otterwareの社員ではありません",
        "曾任Otterware工程师",
        "不是Otterware的员工",
        "Otterwareのファンでエンジニア",
        "Engineer and fan of Otterware",
        "CEO of Otterware from 2010 to 2015",
        "Berater für Vertrieb und Autor",
        "Journalistin, schreibt über Otterware",
        "Redakteurin bei Heise, Nutzerin von Otterware",
        "Director de cine, cliente de Otterware",
        "Directora de la revista que compara Otterware",
        "Berater für Otterware-Kunden",
        "Otterwareユーザーの社員",
        "Co-founder and former CEO of Otterware",
        "Otterware-Entwickler und Berater",
        "Otterware Berater",
        "Specialist in Otterware",
        "Otterwareを使うエンジニア",
        "Otterwareのコンサル会社の社長",
        "Consultant en Otterware",
        "Otterware工程师",
        "Berater für Vertrieb und Leiter von Vertrieb.",
    ],
)
def test_former_posts_denials_and_users_have_no_stake_in_nine_languages(biography: str) -> None:
    assert find_conflict(biography, GERMAN) is None
