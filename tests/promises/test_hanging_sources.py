"""A source that hangs costs its own rows and its share of the time, whoever it is."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from specloom.core import Request, Response
from tests.domains.trust.test_tools import VirtualLoop
from tests.support.indexes import INDEXES, parse
from tests.support.stubbed import Product, Upstreams

HOSTS = {
    "openalex": "api.openalex.org",
    "crossref": "api.crossref.org",
    "semanticscholar": "api.semanticscholar.org",
    "europepmc": "www.ebi.ac.uk",
}
WAIT = 6
"""Seconds for which an index is awaited, as the tool says it."""


class HangingUpstreams(Upstreams):
    """Services of which some never answer."""

    hanging: frozenset[str] = frozenset()

    async def send(self, request: Request) -> Response:
        if any(host in request.url for host in self.hanging):
            self.asked.append(request)
            await asyncio.sleep(10_000)
        return await super().send(request)


def upstreams_without(*names: str) -> HangingUpstreams:
    bodies = {
        host: INDEXES[index]([parse(f"{index} | Otters of {index} in winter | 10.1234/{index} | Ann Otter | 2020")])
        for index, host in HOSTS.items()
    }

    def crossref(request: Request) -> Any:
        """One work by its DOI, which has no notice, or what a search finds."""
        _, _, doi = request.url.partition("/works/")
        return {"status": "ok", "message": {"DOI": doi, "title": ["Otters"]}} if doi else bodies["api.crossref.org"]

    upstreams = HangingUpstreams({**bodies, "api.crossref.org": crossref})
    upstreams.hanging = frozenset(HOSTS[name] for name in names)
    return upstreams


def timed(work: Coroutine[Any, Any, dict[str, Any]]) -> tuple[dict[str, Any], float]:
    """The result, and for how many seconds of a clock that jumps it was waited."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(work), loop.time()
    finally:
        loop.close()


@pytest.mark.parametrize("name", HOSTS)
def test_an_index_that_hangs_costs_its_rows_and_its_share_of_the_time(name: str) -> None:
    _, quick = timed(Product(upstreams_without()).call("academic_search", query="otters"))
    result, seconds = timed(Product(upstreams_without(name)).call("academic_search", query="otters"))

    titles = {paper["title"] for paper in result["structuredContent"]["papers"]}
    assert titles == {f"Otters of {index} in winter" for index in HOSTS if index != name}
    told = {one["provider"]: one["result"] for one in result["_meta"]["routing"]["attempts"]}
    assert told[name] not in ("rows", "empty")
    assert set(told.values()) - {told[name]} == {"rows"}
    # Crossref is the register of retractions, too, and is not awaited once more for these.
    assert seconds <= quick + WAIT + 0.5
    missing = [sentence for sentence in result["structuredContent"]["notices"] if "retraction status" in sentence]
    assert bool(missing) is (name == "crossref")


def test_one_index_of_four_that_answers_is_an_answer() -> None:
    result, seconds = timed(
        Product(upstreams_without("openalex", "crossref", "semanticscholar")).call("academic_search", query="otters")
    )

    assert [paper["title"] for paper in result["structuredContent"]["papers"]] == ["Otters of europepmc in winter"]
    assert seconds <= WAIT + 0.5
