"""Volume, issue and pages: read out of references, and compared so that no right citation is accused."""

from __future__ import annotations

import pytest

from specloom.domains.trust.citations.match import WorkRecord, match_fields, match_text
from specloom.domains.trust.citations.numbering import (
    VolumeNumbers,
    compare_issues,
    compare_pages,
    compare_volumes,
    find_numbering,
)

OTTERS = WorkRecord(
    titles=("How otters swim under winter ice",),
    years=(2019,),
    venues=("Journal of Otters",),
    kind="journal-article",
    numbering=VolumeNumbers("44", "3", "1204-1211"),
)


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("Journal of Otters, 44(3), 1204–1211.", ("44", "3", "1204–1211")),
        ("J Otters. 2019;44(3):1204-11.", ("44", "3", "1204-11")),
        ("J Otters. 2019 Mar 1;44(3):S12-S20.", ("44", "3", "S12-S20")),
        ("J. Otters 2019, 44 (3), 235306.", ("44", "3", "235306")),
        ("Journal of Otters, vol. 44, no. 3, pp. 1204–1211, 2019.", ("44", "3", "1204–1211")),
        ("Journal of Otters 44, no. 3 (2019): 1204–11.", ("44", "3", "1204–11")),
        ("Journal of Otters, vol. 44, no. 3, 2019, pp. 1204-11.", ("44", "3", "1204-11")),
        ("eOtter 3:e01567.", ("3", "", "e01567")),
        ("Otter Notes 44, 1204–1211 (2019).", ("44", "", "1204–1211")),
        ("Revista das Lontras, Faro, v. 44, n. 3, 2019.", ("44", "3", "")),
        ("Zeitschrift für Otterkunde 44 (2019), H. 3, S. 1204–1211.", ("44", "3", "1204–1211")),
        ("Holt: Weir Press, 2019.", ("", "", "")),
        ("Weir Press; 2019. 320 p.", ("", "", "")),
        ("Available at: https://otters.example.org/44/3 (Accessed: 3 March 2024)", ("", "", "")),
        ("Journal of Otters", ("", "", "")),
    ],
)
def test_what_stands_behind_a_venue_is_read_in_every_style(rest: str, expected: tuple[str, str, str]) -> None:
    assert find_numbering(rest, (2019,)) == expected


@pytest.mark.parametrize(
    ("supplied", "recorded", "issue", "verdict"),
    [
        ("44", "44", "", "match"),
        ("XLIV", "44", "", "match"),
        ("044", "44", "", "match"),
        ("44 Suppl 1", "44", "", "match"),
        ("44-45", "45", "", "match"),
        ("s2-42", "42", "", "match"),
        ("12", "44", "", "mismatch"),
        ("12", "44", "12", "not_checked"),
        ("06", "2015", "6", "not_checked"),
        ("2015", "44", "", "not_checked"),
        ("B12", "44", "", "not_checked"),
        ("ahead of print", "44", "", "not_checked"),
    ],
)
def test_volumes(supplied: str, recorded: str, issue: str, verdict: str) -> None:
    assert compare_volumes(supplied, recorded, issue)[0] == verdict


@pytest.mark.parametrize(
    ("supplied", "recorded", "verdict"),
    [
        ("3", "03", "match"),
        ("3-4", "4", "match"),
        ("3/4", "3", "match"),
        ("1-6", "4", "match"),
        ("2", "3", "mismatch"),
        ("7587", "3", "not_checked"),
        ("Suppl 2", "3", "not_checked"),
        ("Mar", "3", "not_checked"),
    ],
)
def test_issues(supplied: str, recorded: str, verdict: str) -> None:
    assert compare_issues(supplied, recorded)[0] == verdict
    assert compare_issues(recorded, supplied)[0] == verdict


@pytest.mark.parametrize(
    ("supplied", "recorded", "article", "verdict"),
    [
        ("1204–11", "1204-1211", "", "match"),
        ("1204–1211", "1204", "", "match"),
        ("e33693", "E33693", "", "match"),
        ("063006", "63006", "", "match"),
        ("xii–xx", "XII-XX", "", "match"),
        ("1206", "1204-1211", "", "match"),
        ("100–105, 112", "100-105", "", "match"),
        ("e12", "1-9", "e12", "match"),
        ("1204-1211", "1204-1219", "", "not_checked"),
        ("1-8", "1204-1211", "", "not_checked"),
        ("1204-1211", "1841", "", "not_checked"),
        ("e1841", "1204-1211", "", "not_checked"),
        ("S12-S20", "12-20", "", "not_checked"),
        ("iv-xii", "12-20", "", "not_checked"),
        ("n/a-n/a", "12-20", "", "not_checked"),
        ("380", "412", "", "not_checked"),
        ("41-58", "925-930", "", "mismatch"),
        ("e33693", "e33963", "", "mismatch"),
        ("235306", "235360", "", "mismatch"),
    ],
)
def test_pages(supplied: str, recorded: str, article: str, verdict: str) -> None:
    assert compare_pages(supplied, recorded, article)[0] == verdict


def _compare(text: str, record: WorkRecord = OTTERS) -> dict[str, str]:
    return {each.field: each.verdict for each in match_text(text, record).judgements}


def test_another_volume_or_other_pages_are_told_within_the_journal_of_the_record() -> None:
    right = _compare("Otter, A. (2019). How otters swim under winter ice. Journal of Otters, 44(3), 1204–1211.")
    wrong = _compare("Otter, A. (2019). How otters swim under winter ice. Journal of Otters, 12(4), 80–91.")

    assert [right[name] for name in ("venue", "volume", "issue", "pages")] == ["match"] * 4
    assert [wrong[name] for name in ("venue", "volume", "issue", "pages")] == ["match", *["mismatch"] * 3]


def test_numbers_of_another_place_are_not_compared() -> None:
    preprint = WorkRecord(OTTERS.titles, (), (2019,), ("Otter Archive",), "posted-content", (), OTTERS.numbering)
    chapter = WorkRecord(OTTERS.titles, (), (2019,), OTTERS.venues, "book-chapter", (), OTTERS.numbering)
    text = "Otter, A. (2019). How otters swim under winter ice. Journal of Otters, 12(4), 80–91."

    for record in (preprint, chapter):
        assert "mismatch" not in (_compare(text, record)[name] for name in ("venue", "volume", "issue", "pages"))


def test_old_volumes_are_counted_by_series() -> None:
    old = WorkRecord(
        OTTERS.titles, (), (1905,), OTTERS.venues, "journal-article", (), VolumeNumbers("322", "10", "891-921")
    )
    text = "Otter, A. (1905). How otters swim under winter ice. Journal of Otters, 17(10), 891–921."

    assert _compare(text, old)["volume"] == "not_checked"


@pytest.mark.parametrize("kind", ["journal-article", "JournalArticle", "article", ""])
def test_another_journal_is_told_where_it_is_surely_one(kind: str) -> None:
    record = WorkRecord(OTTERS.titles, (), (2019,), ("Marine Mammal Letters",), kind)

    numbered = _compare("Otter, A. (2019). How otters swim under winter ice. Journal of Otters, 12(4), 80–91.", record)
    bare = _compare("Otter, A. (2019). How otters swim under winter ice. Weir Press, Holt.", record)

    assert (numbered["venue"], bare["venue"]) == ("mismatch", "not_checked")


@pytest.mark.parametrize(
    ("venue", "recorded", "kind"),
    [
        ("ApJ", "The Astrophysical Journal", "journal-article"),
        ("A&A", "Astronomy & Astrophysics", "journal-article"),
        ("T-PAMI", "IEEE Transactions on Pattern Analysis and Machine Intelligence", "journal-article"),
        ("Journal of Otters", "Proceedings of the Ninth Holt Symposium", "proceedings-article"),
        ("under winter ice", "Marine Mammal Letters", "journal-article"),
        ("Journal of Otters", "arXiv", "journal-article"),
    ],
)
def test_a_venue_that_may_be_the_same_accuses_nobody(venue: str, recorded: str, kind: str) -> None:
    record = WorkRecord(OTTERS.titles, (), (2019,), (recorded,), kind)

    assert match_fields(record, title=OTTERS.titles[0], venue=venue).venue.verdict == "not_checked"


def test_a_publisher_in_place_of_the_venue_accuses_nobody() -> None:
    record = WorkRecord(
        OTTERS.titles, (), (2019,), ("Marine Mammal Letters",), "journal-article", publisher="Weir & Sons"
    )

    assert match_fields(record, title=OTTERS.titles[0], venue="Weir and Sons").venue.verdict == "not_checked"
