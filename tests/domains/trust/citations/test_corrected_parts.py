"""The corrected bibliography of an audit in parts is whole with the last part."""

from __future__ import annotations

import asyncio
from typing import Any

from specloom.domains.trust.citations.corrected_parts import CorrectedPart, join_parts
from specloom.plugins import Kept
from tests.support.audited import desk

FIRST = "% entry 1, as it was\n@article{otter2020,\n  title = {One},\n}"
SECOND = "% entry 201, changed: year\n@article{otter2020,\n  title = {Two},\n}"


class Shelf:
    """Keeps values by key, as a context does."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    async def keep(self, key: str, value: Any, ttl: float) -> None:
        """Keep one."""
        self.values[key] = value

    async def recall(self, key: str) -> Kept | None:
        """What was kept."""
        return Kept(self.values[key]) if key in self.values else None


def join(shelf: Shelf, begin: int, part: CorrectedPart, digest: str = "d") -> str:
    return asyncio.run(join_parts(shelf, digest, begin, part))  # type: ignore[arg-type]


def test_the_last_part_has_the_entries_of_all_and_no_key_twice():
    shelf = Shelf()

    first = join(shelf, 0, CorrectedPart(FIRST, 1, 200, 200))
    whole = join(shelf, 200, CorrectedPart(SECOND, 201, 230, None))

    assert first.splitlines()[0] == "% entries 1 to 200; the rest was not looked at"
    assert whole.splitlines()[0] == "% entries 1 to 230"
    assert "@article{otter2020,\n  title = {One}" in whole
    assert "@article{otter2020_2,\n  title = {Two}" in whole


def test_a_part_whose_former_ones_are_not_there_says_so():
    shelf = Shelf()
    join(shelf, 0, CorrectedPart(FIRST, 1, 200, 200), digest="another document")

    alone = join(shelf, 200, CorrectedPart(SECOND, 201, 230, None))

    assert alone.startswith("% entries 201 to 230; those before were not audited with a report, or too long ago\n")
    assert "One" not in alone


def test_an_audit_with_a_report_gives_the_corrected_bibliography_as_an_artifact():
    bibliography = "@article{fly, title = {How otters fly in summer}, year = {1999}, doi = {10.1234/fly}}"

    async def work() -> tuple[dict[str, Any], dict[str, Any], str]:
        async with desk() as audits:
            with_report = await audits.audit(report="markdown", bibliography=bibliography)
            without = await audits.audit(bibliography=bibliography)
            return with_report, without, (await audits.read(with_report["correctedResource"])).content

    _, without, text = asyncio.run(work())

    assert "correctedResource" not in without
    assert text.startswith("% entries 1 to 1\n\n% entry 1, changed: year")
    assert "year = {2009}" in text
