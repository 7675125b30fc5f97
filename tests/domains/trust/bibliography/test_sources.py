"""The references of a file, from its bytes to what is judged of each: a PDF, an office document, a bibliography."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.audited import desk
from tests.support.documents import lines, make_docx, make_pdf, paragraph

URL = "https://papers.example.org/otters"
REFERENCES = (
    "[1] Otter, A., & Weir, B. (2021). How otters swim under winter ice. Journal of Otters.",
    "https://doi.org/10.1234/swim",
    "[2] Mink, M. (2009). How otters fly in summer. Journal of Otters. doi:10.1234/fly",
    "[3] Holt, T. (2018). A book that nobody has printed. doi:10.1234/none",
    "[4] Ibid.",
)
PROSE = (
    "Otters swim in all the rivers of the north, as those know who live beside them.",
    "They sleep in the reeds, and eat what the river gives them in every season.",
)
BIB = """@article{swim, title={How otters swim under winter ice}, doi={10.1234/swim}}
@article{fly, title={How otters fly in summer}, doi={10.1234/fly}}
@article{broken, title={How otters {sink}
@article{none, title={A book that nobody has printed}, doi={10.1234/none}}
"""
PDF = make_pdf(
    [
        [*lines(["On otters"], size=16), *lines(PROSE, top=660)],
        [*lines(PROSE), *lines(["References"], top=650, size=14), *lines(REFERENCES, top=625)],
    ]
)
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
DOCX = make_docx(
    "".join(
        (
            paragraph("On otters", style="Heading1"),
            *map(paragraph, PROSE),
            paragraph("References", style="Heading1"),
            paragraph(f"{REFERENCES[0]} {REFERENCES[1]}"),
            *map(paragraph, REFERENCES[2:]),
        )
    )
)


def audit(kind: str, body: bytes, **given: Any) -> Mapping[str, Any]:
    async def work() -> Mapping[str, Any]:
        async with desk(files={URL: (kind, body)}) as audits:
            return await audits.audit(source=URL, **given)

    return asyncio.run(work())


@pytest.mark.parametrize(("kind", "body"), [("application/pdf", PDF), (WORD, DOCX)], ids=["pdf", "docx"])
def test_every_reference_of_a_paper_is_judged_and_what_is_none_is_told(kind: str, body: bytes) -> None:
    answer = audit(kind, body)

    assert answer["source"] == "bibliography:text"
    assert [(one["doi"], one["flags"]) for one in answer["entries"]] == [
        ("10.1234/swim", []),
        ("10.1234/fly", ["retracted"]),
        ("10.1234/none", ["not_found"]),
    ]
    assert [one["index"] for one in answer["unreadable"]] == [3]
    assert "Ibid." in answer["unreadable"][0]["message"]


def test_the_address_of_a_bibliography_is_audited_as_the_bibliography() -> None:
    answer = audit("text/plain", BIB.encode())

    assert answer["source"] == "bibliography:bibtex"
    assert [one["citeKey"] for one in answer["entries"]] == ["swim", "fly", "none"]
    assert answer["entries"][1]["flags"] == ["retracted"]
    assert [one["line"] for one in answer["unreadable"]] == [3]


def test_a_long_list_is_gone_on_with_until_every_entry_was_judged() -> None:
    record = "TY  - JOUR\nTI  - How otters swim under winter ice\nDO  - 10.1234/swim\nER  - \n"
    document = (record * 150 + "TY  - JOUR\nER  - \n") * 3

    async def work() -> tuple[list[int], list[int], list[Mapping[str, Any]]]:
        judged, broken, answers, offset = [], [], [], 0
        async with desk() as audits:
            while True:
                answer = await audits.audit(bibliography=document, offset=offset)
                answers.append(answer)
                judged += [one["index"] for one in answer["entries"]]
                broken += [one["index"] for one in answer.get("unreadable", ())]
                if "nextOffset" not in answer:
                    return judged, broken, answers
                offset = answer["nextOffset"]

    judged, broken, answers = asyncio.run(work())

    assert broken == [150, 301, 452]
    assert judged == [at for at in range(453) if at not in broken]
    assert [answer.get("skipped") for answer in answers] == [250, 50, None]
    assert answers[0]["skippedNote"].endswith("call again with offset 201")
