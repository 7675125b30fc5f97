"""Fields that an encoding went wrong for: told as such, and told anew by a source that says the same but for that."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.papers.entries import make_entry, merge
from specloom.domains.text.fold import LONGEST_MENDED, mends
from tests.support.paper_store import World, as_json, crossref, unpaywall

DOI = "10.1234/otters"
BROKEN = "How \ufffd\ufffdtters swim"


def datacite(world: World, title: str, names: list[str] = []) -> None:  # noqa: B006 - it is read only
    world.environ = {"DOIGET_ENABLE_DATACITE": "1"}
    attributes = {"doi": DOI, "titles": [{"title": title}], "creators": [{"name": name} for name in names]}
    world.pages[f"api.datacite.org/dois/{DOI.replace('/', '%2F')}"] = as_json({"data": {"attributes": attributes}})


def test_a_broken_field_is_told_and_stays_where_nobody_is_switched_on(world: World) -> None:
    world.pages |= {**crossref(DOI, title=[BROKEN]), **unpaywall(DOI)}

    told = world.call("metadata_only", ref=DOI)

    assert told["metadata_quality"] == ["replacement_char:title"]
    assert told["repaired_fields"] == {}
    assert len(world.asked) == 1


@pytest.mark.parametrize("tool", ["metadata_only", "fetch_paper"])
def test_a_source_that_is_switched_on_repairs_it_and_is_named(world: World, tool: str) -> None:
    authors = [{"given": "\ufffdnn", "family": "Otter"}, {"given": "Ben", "family": "Stream"}]
    world.pages |= {**crossref(DOI, title=[BROKEN], author=authors), **unpaywall(DOI)}
    datacite(world, "How Ötters swim", ["Otter, Änn", "Stream, Ben"])

    told = world.call(tool, ref=DOI)

    assert told["metadata_quality"] == []
    assert told["repaired_fields"] == {"title": "datacite", "authors": "datacite"}
    stored = world.call("info", ref=DOI)["metadata"]
    assert (stored["title"], stored["authors"]) == ("How Ötters swim", ["Änn Otter", "Ben Stream"])
    assert stored["doiget"]["repaired_fields"] == {"title": "datacite", "authors": "datacite"}
    assert ("fetch", "datacite", "ok") in [(row["event"], row["source"], row["result"]) for row in world.rows()]


def test_another_title_repairs_nothing(world: World) -> None:
    world.pages |= crossref(DOI, title=[BROKEN])
    datacite(world, "How Ötters sleep")

    told = world.call("metadata_only", ref=DOI)

    assert told["metadata_quality"] == ["replacement_char:title"]
    assert told["repaired_fields"] == {}


def test_a_whole_record_asks_nobody_else(world: World) -> None:
    world.pages |= crossref(DOI)
    datacite(world, "How otters swim")

    world.call("metadata_only", ref=DOI)

    assert len(world.asked) == 1


def test_a_stored_field_gives_way_to_its_repair_and_to_nothing_else() -> None:
    def entry(**record: Any) -> dict[str, Any]:
        return make_entry({"title": "T", "authors": ["Ann"], **record}, {})

    stored = entry(title=BROKEN, venue="Br\ufffdok", authors=["\ufffdnn", "Ben"])

    merged = merge(stored, entry(title="How Ötters swim", venue="Another", authors=["Änn", "Ben"]))

    assert (merged["title"], merged["venue"], merged["authors"]) == ("How Ötters swim", "Br\ufffdok", ["Änn", "Ben"])


@pytest.mark.parametrize(
    ("broken", "whole", "does"),
    [
        ("a\ufffdb", "aöb", True),
        ("a\ufffd\ufffd\ufffdb", "aöb", True),
        ("a\ufffdb", "aöüb", False),
        ("a\ufffdb", "ab", False),
        ("a\ufffdb", "a\ufffdb", False),
        ("aöb", "aöb", False),
        ("\ufffdb\ufffd", "öbü", True),
        ("x" * LONGEST_MENDED + "\ufffd", "x" * LONGEST_MENDED + "ö", False),
        (["a\ufffd", "b"], ["aö", "b"], True),
        (["a\ufffd", "b"], ["aö", "c"], False),
        (["a\ufffd"], ["aö", "b"], False),
        ("a\ufffd", None, False),
    ],
)
def test_what_is_the_same_but_for_what_was_lost_mends_it(broken: Any, whole: Any, does: bool) -> None:
    assert mends(broken, whole) is does


@given(st.text(max_size=60), st.sets(st.integers(0, 59), min_size=1))
def test_a_text_mends_what_lost_some_of_its_characters(text: str, lost: set[int]) -> None:
    text = text.replace("\ufffd", "?")
    broken = "".join("\ufffd" * len(one.encode("utf-8")) if at in lost else one for at, one in enumerate(text))

    assert mends(broken, text) is ("\ufffd" in broken)


@pytest.mark.parametrize("tool", ["metadata_only", "resolve_paper"])
@pytest.mark.parametrize("is_down", [True, False])
def test_a_record_of_another_says_that_nobody_knows_of_a_retraction(world: World, tool: str, is_down: bool) -> None:
    world.as_json = False
    world.pages |= unpaywall(DOI, title="How otters swim")
    if is_down:
        world.pages |= {page: as_json({}, 503) for page in crossref(DOI)}

    told = world.call(tool, ref=DOI)

    assert (told["ok"], told["source"]) == (True, "unpaywall")
    assert ("retracted or corrected was not checked: Crossref" in world.texts[-1]) == is_down
