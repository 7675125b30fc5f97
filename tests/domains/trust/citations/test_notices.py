"""Notices about a work: the gravest is told by its name, and sources that disagree are both heard."""

from __future__ import annotations

import os

import pytest

from specloom.core.faults import Fault
from specloom.domains.trust.citations.notices import Notice, NoticeSource, judge_notices, to_nature, to_notices
from specloom.domains.trust.citations.retraction_list import load_list, read_list, write_list

HEAD = "OriginalPaperDOI,RetractionNature,RetractionDate,RetractionDOI,Reason"


def source(*natures: str, name: str = "crossref", replaced_by: str = "") -> NoticeSource:
    notices = (Notice(nature, name, f"20{at + 10}-01-01") for at, nature in enumerate(natures))
    return NoticeSource(name, tuple(notices), replaced_by)


@pytest.mark.parametrize(
    ("natures", "retracted", "nature"),
    [
        (("partial_retraction", "retraction"), True, None),
        (("retraction", "partial_retraction"), True, None),
        (("partial_retraction",), True, "partial_retraction"),
        (("correction", "expression_of_concern"), False, None),
        (("retraction", "reinstatement"), False, "reinstatement"),
        (("reinstatement", "retraction"), True, None),
        (("withdrawal",), True, "withdrawal"),
        (("erratum",), False, "erratum"),
    ],
)
def test_the_gravest_notice_is_told_by_its_name(natures: tuple[str, ...], retracted: bool, nature: str | None) -> None:
    told = judge_notices([source(*natures)])

    assert told is not None
    assert (told.retracted, told.nature) == (retracted, nature)


def test_what_took_the_place_of_a_work_is_named() -> None:
    told = judge_notices([source("retraction", replaced_by="10.1234/NEW")])

    assert told is not None
    assert (told.kind, told.nature, told.replaced_by) == ("retraction", "retract_and_replace", "10.1234/new")


def test_a_correction_is_no_replacement() -> None:
    told = judge_notices([source("correction", replaced_by="10.1234/new")])

    assert told is not None
    assert (told.nature, told.replaced_by) == (None, None)


def test_sources_that_disagree_are_both_named() -> None:
    told = judge_notices([source(), source("retraction", name="europepmc")])

    assert told is not None
    assert (told.retracted, told.source) == (True, "europepmc")
    assert told.disagreement == "europepmc says that it was retracted; crossref lists no retraction"


def test_nobody_who_lists_a_notice_makes_a_work_clean() -> None:
    assert judge_notices([source(), source(name="europepmc")]) is None
    assert judge_notices([]) is None


@pytest.mark.parametrize(
    ("written", "nature"),
    [("Partial-Retraction", "partial_retraction"), ("Expression of concern", "expression_of_concern"),
     ("new_version", ""), (None, ""), ("Reinstatement", "reinstatement")],
)  # fmt: skip
def test_a_notice_is_known_however_its_name_is_written(written: str | None, nature: str) -> None:
    assert to_nature(written) == nature


def test_what_is_no_notice_is_left_out() -> None:
    rows = [{"nature": "new_version"}, {"nature": "Erratum", "date": "2020-01-01T00:00:00Z"}, "x", {}]

    assert to_notices(rows, "crossref") == (Notice("erratum", "crossref", "2020-01-01"),)
    assert to_notices(None, "crossref") == ()


# --- the list that is kept as a file ---


def test_a_list_is_looked_up_by_the_doi_of_the_work() -> None:
    read = read_list(
        [
            HEAD,
            "10.1234/Gone,Retraction,7/12/2023 0:00,10.1234/r,+Paper Mill;",
            "10.1234/new,Retraction,2018-06-13,unavailable,+Error;+Retract and Replace;",
            "10.1234/back,Reinstatement,13/13/2023 0:00,,",
            "unavailable,Retraction,7/12/2023 0:00,,",
            "10.1234/odd,Something else,7/12/2023 0:00,,",
        ]
    )

    gone, new = read.find("10.1234/gone"), read.find("10.1234/new")
    assert gone is not None
    assert gone.notices == (Notice("retraction", "retraction-watch", "2023-07-12", "10.1234/r"),)
    assert new is not None
    assert [(notice.nature, notice.date) for notice in new.notices] == [("retract_and_replace", "2018-06-13")]
    assert read.find("10.1234/clean") is None, "a work without notices is not in such a list"
    assert read.left_out == 2


def test_a_list_without_a_column_is_refused() -> None:
    with pytest.raises(Fault, match="no column 'OriginalPaperDOI'") as caught:
        read_list(["DOI,Nature", "10.1234/a,Retraction"])

    assert caught.value.kind == "validation"


def test_a_list_that_changed_is_read_again_and_one_that_is_not_there_is_told(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "lists" / "retractions.csv"

    written = write_list(path, f"{HEAD}\n10.1234/a,Retraction,7/12/2023 0:00,,\n".encode())
    assert set(load_list(str(path)).notices) == set(written.notices) == {"10.1234/a"}

    if os.name != "nt":
        assert path.stat().st_mode & 0o777 == 0o644, "what is public is read by whoever runs the servers"

    with pytest.raises(Fault, match="names no work"):
        write_list(path, f"{HEAD}\n".encode())
    assert set(load_list(str(path)).notices) == {"10.1234/a"}, "the old one stays"
    assert [one.name for one in path.parent.iterdir()] == ["retractions.csv"]

    with pytest.raises(Fault, match="cannot be read: No such file") as caught:
        load_list(str(tmp_path / "nowhere.csv"))
    assert caught.value.kind == "config"
