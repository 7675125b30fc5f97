"""What an entry says that was not taken is told, and what was taken is not."""

from __future__ import annotations

import json

import pytest

from specloom.domains.trust.bibliography.documents import parse_bibliography


@pytest.mark.parametrize(
    ("fields", "untaken", "date"),
    [
        ("year={in press}", ["year 'in press'"], ""),
        ("year={2020 (in press)}", ["year '2020 (in press)' beyond 2020"], "2020"),
        ("year={1998/1999}, month={foo}", ["month 'foo' beyond 1998/1999"], "1998/1999"),
        ("year={1998--1999}", [], "1998/1999"),
        ("year=2020, month=mar # {~9}", [], "2020-03-09"),
        ("date={2020-03-09}", [], "2020-03-09"),
        ("year={c. 2020}", [], "2020~"),
        ("year={circa 1850}", [], "1850~"),
        ("mycustom={keep me}, year=2020", ["mycustom 'keep me'"], "2020"),
        ("note={Of {CO$_2$}}, abstract={costs 5\\$}", ["note 'Of {CO$_2$}' beyond its words"], ""),
        ("note={\\emph{Not} so}, publisher={T\\'ex}", ["note '\\\\emph{Not} so' beyond its words"], ""),
        ("doi={https://doi.org/10.1234/a}, url={https://a.org/b}", [], ""),
    ],
)
def test_values_of_bibtex(fields: str, untaken: list[str], date: str) -> None:
    parsed = parse_bibliography(f"@article{{a, title={{T}}, {fields}}}")

    assert [*parsed.untaken[0]] == untaken
    assert parsed.entries[0].date == date


@pytest.mark.parametrize(
    ("text", "untaken"),
    [
        (
            "TY  - JOUR\nTI  - T\nPY  - soon\nDO  - none\nUR  - nourl\nER  - \n",
            ["PY 'soon'", "DO 'none'", "UR 'nourl'"],
        ),
        ("TY  - JOUR\nTI  - T\nPY  - 2020\nDA  - 2020///Spring\nER  - \n", []),
        ("PMID- 12345\nTI  - T.\nDP  - 2020 Mar 9\n", []),
        (json.dumps([{"title": "T", "issued": {"raw": "soon"}, "DOI": "none"}]), ["issued 'soon'", "DOI 'none'"]),
        (json.dumps([{"title": "T", "issued": {"date-parts": [[2020, 3]]}, "URL": "https://a.org"}]), []),
    ],
)
def test_values_of_other_formats(text: str, untaken: list[str]) -> None:
    assert [*parse_bibliography(text).untaken[0]] == untaken
