"""Rate-limit headers in the forms of their senders: the pace is learned, and nobody asks before they may come back."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from email.utils import formatdate
from typing import Any

import pytest

from specloom.core import Request, parse_rate
from specloom.runtime import Breakers
from tests.support.clock import Clock
from tests.support.stubbed import NOW, Product, Upstreams

AT = str(int(NOW) + 30)
"""Thirty seconds from now, since 1970."""
EPO = {"EPO_OPS_CONSUMER_KEY": "k", "EPO_OPS_CONSUMER_SECRET": "s"}
LIGHTS = "{} (images=green:100, inpadoc=green:45, other=green:1000, retrieval=green:100, search={})"
WORKS: Mapping[str, Any] = {"message": {"total-results": 0, "items": []}}
REPOSITORIES: Mapping[str, Any] = {"total_count": 0, "items": []}


def refusal(headers: Mapping[str, str], body: Any = None) -> Any:
    """An answer that asks to slow down."""
    return (429, headers, body if body is not None else {"message": "Too many requests"})


async def ask(product: Product, tool: str, provider: str, query: str = "otters") -> dict[str, Any]:
    """Ask one provider by its name."""
    return await product.call(tool, query=query, provider=provider)


@pytest.mark.parametrize(
    ("tool", "provider", "environ", "stub", "pace"),
    [
        (
            "academic_search",
            "crossref",
            {},
            ({"x-rate-limit-limit": "50", "x-rate-limit-interval": "1s"}, WORKS),
            "50/s",
        ),
        ("academic_search", "crossref", {}, ({"x-rate-limit-limit": "3", "x-rate-limit-interval": "1s"}, WORKS), "3/s"),
        (
            "academic_search",
            "crossref",
            {},
            ({"x-rate-limit-limit": "fast", "x-rate-limit-interval": "1s"}, WORKS),
            "5/s",
        ),
        ("academic_search", "crossref", {}, ({"x-rate-limit-limit": "0", "x-rate-limit-interval": "1s"}, WORKS), "5/s"),
        (
            "academic_search",
            "crossref",
            {"CROSSREF_RATE": "2/s"},
            ({"x-rate-limit-limit": "50", "x-rate-limit-interval": "1s"}, WORKS),
            "2/s",
        ),
        (
            "academic_search",
            "pubmed",
            {},
            (
                {"x-ratelimit-limit": "10", "x-ratelimit-remaining": "9"},
                {"esearchresult": {"count": "0", "idlist": []}},
            ),
            "10/s",
        ),
        (
            "web_search",
            "github",
            {},
            (
                {"x-ratelimit-limit": "30", "x-ratelimit-remaining": "29", "x-ratelimit-resource": "search"},
                REPOSITORIES,
            ),
            "30/min",
        ),
        (
            "web_search",
            "brave",
            {"BRAVE_API_KEY": "k"},
            ({"x-ratelimit-limit": "20, 0", "x-ratelimit-remaining": "19, 0"}, {"web": {"results": []}}),
            "20/s",
        ),
    ],
)
async def test_the_pace_is_the_one_that_the_headers_tell(
    tool: str, provider: str, environ: dict[str, str], stub: tuple[dict[str, str], Any], pace: str
) -> None:
    product = Product(Upstreams(otherwise=(200, *stub)), environ)

    await ask(product, tool, provider)

    assert product.executor.upstreams.pace_of(provider) == parse_rate(pace)


@pytest.mark.parametrize(("lights", "pace"), [(("busy", "yellow:15"), "15/min"), (("overloaded", "black:0"), "30/min")])
async def test_the_pace_of_patents_is_what_their_traffic_light_allows(lights: tuple[str, str], pace: str) -> None:
    headers = {"x-throttling-control": LIGHTS.format(*lights)}
    stubs = {"accesstoken": {"access_token": "t"}, "ops.epo.org": (404, headers, "<fault/>")}
    product = Product(Upstreams(stubs), EPO)

    await ask(product, "patent_search", "epo")

    assert product.executor.upstreams.pace_of("epo") == parse_rate("30/min")  # an error is not believed
    product = Product(Upstreams({**stubs, "ops.epo.org": (200, headers, "<world-patent-data/>")}), EPO)
    await ask(product, "patent_search", "epo")
    assert product.executor.upstreams.pace_of("epo") == parse_rate(pace)


SECOND = 30
REFUSALS = [
    ("academic_search", "crossref", {}, refusal({"retry-after": "30"})),
    ("academic_search", "crossref", {}, refusal({"retry-after": formatdate(NOW + 30, usegmt=True)})),
    ("academic_search", "crossref", {}, refusal({"ratelimit": '"burst";r=0;t=30'})),
    ("academic_search", "crossref", {}, refusal({"ratelimit": '"day";r=900;t=4000, "burst";r=0;t=30'})),
    ("academic_search", "crossref", {}, refusal({"ratelimit-remaining": "0", "ratelimit-reset": "30"})),
    (
        "web_search",
        "bluesky",
        {},
        refusal({"ratelimit-limit": "3000", "ratelimit-remaining": "0", "ratelimit-reset": AT}),
    ),
    ("web_search", "github", {}, (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": AT}, {"message": "limit"})),
    ("web_search", "reddit", {}, refusal({"x-ratelimit-remaining": "0.0", "x-ratelimit-reset": "30"})),
    (
        "academic_search",
        "core",
        {"CORE_API_KEY": "k"},
        refusal({"x-ratelimit-remaining": "0", "x-ratelimit-retry-after": "2025-11-24T16:00:30+0000"}),
    ),
    ("patent_search", "lens", {"LENS_API_TOKEN": "k"}, refusal({"x-rate-limit-retry-after-seconds": "30"})),
    (
        "patent_search",
        "epo",
        EPO,
        (403, {"retry-after": "30000", "x-throttling-control": LIGHTS.format("overloaded", "black:0")}, "<error/>"),
    ),
    (
        "web_search",
        "brave",
        {"BRAVE_API_KEY": "k"},
        refusal({"x-ratelimit-remaining": "0, 900", "x-ratelimit-reset": "30, 80000"}),
    ),
]


@pytest.mark.parametrize(("tool", "provider", "environ", "stub"), REFUSALS)
async def test_a_refusal_is_obeyed_to_its_second(tool: str, provider: str, environ: dict[str, str], stub: Any) -> None:
    now = Clock(NOW)
    upstreams = Upstreams({"accesstoken": {"access_token": "t"}}, otherwise=stub)
    product = Product(upstreams, environ, clock=now, breakers=Breakers(clock=now))

    told = (await ask(product, tool, provider))["content"][0]["text"]
    sent = len(upstreams.asked)
    now.now += SECOND - 1
    refused = await ask(product, tool, provider, "sea otters")
    in_vain = len(upstreams.asked) - sent
    now.now += 2
    await ask(product, tool, provider, "giant otters")

    assert '"retryAfterSeconds":30' in told.replace(" ", "")
    assert refused["isError"]
    assert in_vain == 0
    assert len(upstreams.asked) > sent


@pytest.mark.parametrize(
    ("headers", "held"),
    [
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": AT}, True),
        ({"x-ratelimit-remaining": "1", "x-ratelimit-reset": AT}, False),
        ({"x-ratelimit-remaining": "0"}, False),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(NOW) - 5)}, False),
        ({"x-ratelimit-remaining": "none", "x-ratelimit-reset": AT}, False),
    ],
)
async def test_who_has_nothing_left_is_not_asked_before_that_is_renewed(headers: dict[str, str], held: bool) -> None:
    upstreams = Upstreams({"api.github.com": (200, headers, REPOSITORIES)})
    product = Product(upstreams, {"GITHUB_RATE": "1000/s"})
    await ask(product, "web_search", "github")

    result = await ask(product, "web_search", "github", "sea otters")

    assert upstreams.count()["github"] == (1 if held else 2)
    assert bool(result.get("isError")) is held
    assert not held or "try again in 30 s" in result["content"][0]["text"]


async def test_a_day_without_credit_lets_look_ups_pass_that_cost_none() -> None:
    used_up = (429, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "3600"}, {"error": "Rate limit exceeded"})
    work = (200, {}, {"id": "https://openalex.org/W1", "title": "Otters"})
    upstreams = Upstreams({"openalex.org/works?": used_up, "openalex.org/works/": work})
    product = Product(upstreams, {"OPENALEX_EMAIL": "ann@example.org"})

    told = (await ask(product, "academic_search", "openalex"))["content"][0]["text"]
    result = await product.call("citation_graph", paper="10.1234/otters", provider="openalex")

    assert "daily credit at OpenAlex is used up" in told
    assert any("/works/" in request.url for request in upstreams.asked), result


async def test_a_pace_that_is_learned_lets_no_more_in_at_once_than_before() -> None:
    """While somebody holds a place, the rate is told anew by each answer."""
    inside = most = 0
    rates = iter(range(50, 90))

    async def send(request: Request) -> Any:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        for _ in range(10):
            await asyncio.sleep(0)
        inside -= 1
        return await Upstreams(
            otherwise=(200, {"x-rate-limit-limit": str(next(rates)), "x-rate-limit-interval": "1s"}, WORKS)
        ).send(request)

    upstreams = Upstreams()
    upstreams.send = send  # type: ignore[method-assign]
    executor = Product(upstreams).executor
    places = executor.model.providers["crossref"].service.concurrency

    await asyncio.gather(
        *(executor.upstreams.ask("crossref", "scholarly", {"query": f"otters {at}"}) for at in range(12))
    )

    assert most == places
