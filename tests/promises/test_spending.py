"""What a search costs is told, and the ceilings of an operator hold over fall-backs, days, sessions and processes."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlsplit

import pytest

from specloom.core import Backplane, Request
from specloom.plugins import join_owner
from specloom.runtime import Breakers
from specloom.storage.backplane_local import LocalCounters
from tests.promises.test_routes import KEYS, NOTHING, pages, routing_of
from tests.support.clock import Clock
from tests.support.stubbed import NOW, Product, Upstreams

BRAVE = {"BRAVE_API_KEY": "k"}
PAID = {"google", "brave", "serper", "searchapi", "tavily", "exa"}


def cost_of(result: dict[str, Any]) -> dict[str, Any]:
    """What `_meta` says that a call cost."""
    told: dict[str, Any] = result["_meta"]["cost"]
    return told


# --- One question (D8) -----------------------------------------------------------------------------------------------


async def test_an_empty_question_sends_four_paid_requests_at_most_and_says_who_was_not_asked() -> None:
    upstreams = Upstreams(NOTHING)

    result = await Product(upstreams, KEYS).call(
        "web_search", query="how do I zzqq the thing", site="example.org", time_range="day"
    )

    sent = upstreams.count()
    assert sum(sent[name] for name in PAID) == 4
    assert sent["searxng"] == sent["duckduckgo"] == 1
    told = {one["provider"]: one["result"] for one in routing_of(result)["attempts"]}
    assert {name for name, how in told.items() if how == "over_budget"} == PAID - set(sent)
    assert set(routing_of(result)["providers_attempted"]) == set(sent)
    assert cost_of(result)["requests"] == len(upstreams.asked)
    assert cost_of(result)["by"]["brave"] == {"requests": 1, "usd": 0.005}
    notice = result["structuredContent"]["notices"][0]
    assert "SearchApi, Tavily and Exa would cost more than may be spent" in notice


async def test_a_ceiling_of_none_lets_everybody_be_asked() -> None:
    upstreams = Upstreams(NOTHING)

    await Product(upstreams, {**KEYS, "SPECLOOM_MAX_CALLS_PER_QUESTION": "0"}).call("web_search", query="otters")

    assert set(upstreams.count()) >= PAID


async def test_who_asks_by_name_beyond_the_ceiling_is_told_which_it_was() -> None:
    upstreams = Upstreams({"brave.com": pages("https://a.example/")})
    product = Product(upstreams, {**BRAVE, "SPECLOOM_MAX_USD_PER_QUESTION": "0.001"})

    result = await product.call("web_search", query="otters", provider="brave")

    assert result["isError"]
    assert "SPECLOOM_MAX_USD_PER_QUESTION" in result["content"][0]["text"]
    assert upstreams.asked == []


async def test_who_is_asked_at_the_same_time_stays_within_the_dollars_of_a_question() -> None:
    upstreams = Upstreams(NOTHING)
    environ = {**KEYS, **dict.fromkeys((f"{name.upper()}_USD" for name in PAID), "0.005")}
    ceilings = {"SPECLOOM_MAX_USD_PER_QUESTION": "0.01", "SPECLOOM_MAX_CALLS_PER_QUESTION": "0"}

    result = await Product(upstreams, environ | ceilings).call("web_search", query="otters", depth="wide")

    assert sum(upstreams.count()[name] for name in PAID) == 2
    assert cost_of(result)["usd"] == 0.01


async def test_dollars_that_were_held_for_who_failed_are_there_for_the_next() -> None:
    upstreams = Upstreams({"brave.com": (500, {}, {}), "serper": {"organic": [{"link": "https://a.example/"}]}})
    keys = {**BRAVE, "SERPER_API_KEY": "k", "BRAVE_USD": "0.005", "SERPER_USD": "0.005"}

    result = await Product(upstreams, {**keys, "SPECLOOM_MAX_USD_PER_QUESTION": "0.005"}).call(
        "web_search", query="otters"
    )

    assert upstreams.count()["brave"] >= 1
    assert routing_of(result)["provider_used"] == "serper"
    assert cost_of(result)["usd"] == 0.005


# --- Within one question: pages, and the parts of a long list of sites ------------------------------------------------

GOOGLE = {name: KEYS[name] for name in ("GOOGLE_CUSTOM_SEARCH_API_KEY", "GOOGLE_CUSTOM_SEARCH_ID")}


def google_page(request: Request) -> dict[str, Any]:
    """A full page of Google within what was asked for, with another one behind it."""
    asked = {name: str(value) for name, value in request.query}
    first = int(asked.get("start", "1"))
    host, _, path = (re.findall(r"site:([^ )]+)", asked["q"]) or ["a.example"])[0].partition("/")
    items = [{"title": f"T{at}", "link": f"https://{host}/{path}/{at}"} for at in range(first, first + 10)]
    return {"items": items, "queries": {"nextPage": [{}]}}


@pytest.mark.parametrize(
    ("most", "asked", "hosts", "told"),
    [
        (4, {"num_results": 50}, 1, "which are used up."),
        (4, {"num_results": 50, "lens": "docs"}, 3, "which are used up."),
        (2, {"num_results": 10, "lens": "docs"}, 2, "3 of the 23 sites were not asked for."),
    ],
)
async def test_one_question_stops_at_the_ceiling_with_the_pages_and_parts_that_it_has(
    most: int, asked: dict[str, Any], hosts: int, told: str
) -> None:
    upstreams = Upstreams({"googleapis": google_page})
    product = Product(upstreams, {**GOOGLE, "SPECLOOM_MAX_CALLS_PER_QUESTION": str(most)})

    result = await product.call("web_search", query="otters", provider="google", **asked)

    answer = result["structuredContent"]
    assert upstreams.count() == {"google": most}
    assert cost_of(result)["requests"] == most
    assert len({urlsplit(url).netloc for url in answer["urls"]}) == hosts
    notice = next(one for one in answer["notices"] if one.startswith("Google"))
    assert f"answered in part. This server sends {most} requests to paid providers" in notice
    assert "SPECLOOM_MAX_CALLS_PER_QUESTION" in notice
    assert notice.endswith(told)


async def test_who_is_asked_beside_others_pages_within_one_ceiling() -> None:
    found = [{"title": f"B{at}", "url": f"https://b.example/{at}"} for at in range(20)]
    upstreams = Upstreams(
        {"googleapis": google_page, "brave.com": {"web": {"results": found}, "query": {"more_results_available": True}}}
    )

    result = await Product(upstreams, {**GOOGLE, **BRAVE, "BRAVE_RATE": "100/s"}).call(
        "web_search", query="otters", num_results=50, depth="wide"
    )

    sent = upstreams.count()
    assert sent["google"] + sent["brave"] == 4
    assert min(sent["google"], sent["brave"]) >= 1
    assert "SPECLOOM_MAX_CALLS_PER_QUESTION" in " ".join(result["structuredContent"]["notices"])


async def test_the_day_ends_between_pages_and_the_first_ones_are_told() -> None:
    upstreams = Upstreams({"googleapis": google_page})
    product = Product(upstreams, {**GOOGLE, "SPECLOOM_MAX_PAID_CALLS_PER_DAY": "2"})

    answer = await product.answer("web_search", query="otters", provider="google", num_results=50)

    assert upstreams.count() == {"google": 2}
    assert len(answer["urls"]) == 20
    assert "SPECLOOM_MAX_PAID_CALLS_PER_DAY" in answer["notices"][0]


async def test_without_a_ceiling_all_parts_are_asked() -> None:
    upstreams = Upstreams({"googleapis": google_page})
    product = Product(upstreams, {**GOOGLE, "SPECLOOM_MAX_CALLS_PER_QUESTION": "0"})

    answer = await product.answer("web_search", query="otters", provider="google", lens="docs")

    assert upstreams.count() == {"google": 3}
    assert "notices" not in answer


PLACES = {
    "/web/search": {"locations": {"results": [{"id": "a"}]}},
    "/local/pois": {"results": [{"id": "a", "title": "Otter Café", "coordinates": [53.0, 13.5]}]},
    "/local/descriptions": {"results": [{"id": "a", "description": "By the river."}]},
    "photon": {"features": []},
}
"""Three requests for one answer, of which the last only adds to it."""


@pytest.mark.parametrize(
    ("most", "sent", "told"),
    [
        (1, 0, "(SPECLOOM_MAX_CALLS_PER_QUESTION), which are used up. An answer takes 2 of them."),
        (2, 2, "Brave Search answered in part. This server sends 2 requests to paid providers"),
        (3, 3, ""),
    ],
)
async def test_the_steps_of_one_page_stay_within_the_ceiling_and_none_of_them_is_for_nothing(
    most: int, sent: int, told: str
) -> None:
    upstreams = Upstreams(PLACES)
    environ = {**BRAVE, "BRAVE_RATE": "100/s", "SPECLOOM_MAX_CALLS_PER_QUESTION": str(most)}

    result = await Product(upstreams, environ).call("local_search", query="café", near="Berlin", provider="brave")

    text = result["content"][0]["text"]
    assert upstreams.count()["brave"] == sent
    assert told in text
    assert ("SPECLOOM_MAX_CALLS_PER_QUESTION" in text) == (most < len(PLACES) - 1)
    assert ("Otter Café" in text) == (sent > 1)
    assert ("By the river." in text) == (sent > len(PLACES) - 2)


async def test_who_costs_nothing_answers_where_one_page_would_go_beyond_the_ceiling() -> None:
    found = {"geometry": {"coordinates": [13.5, 53.0]}, "properties": {"osm_type": "N", "osm_id": 1, "name": "Café"}}
    upstreams = Upstreams({**PLACES, "photon": {"features": [found]}})

    answer = await Product(upstreams, {**BRAVE, "SPECLOOM_MAX_CALLS_PER_QUESTION": "1"}).answer(
        "local_search", query="café", near="Berlin"
    )

    assert set(upstreams.count()) == {"photon"}
    assert answer["notices"] == [
        "Brave Search would cost more than may be spent (SPECLOOM_MAX_CALLS_PER_QUESTION); "
        "Photon (OpenStreetMap) answered instead."
    ]


# --- Days, sessions, tenants, processes ------------------------------------------------------------------------------


async def test_the_day_has_a_ceiling_after_which_who_is_free_answers_until_it_ends() -> None:
    now = Clock()
    upstreams = Upstreams({"brave.com": pages("https://a.example/"), "duckduckgo": NOTHING["duckduckgo"]})
    product = Product(upstreams, {**BRAVE, "SPECLOOM_MAX_USD_PER_DAY": "0.01"}, clock=now)

    served = [
        routing_of(await product.call("web_search", query=f"otters {at}")).get("provider_used") for at in range(3)
    ]
    now.now += 86_400
    tomorrow = await product.call("web_search", query="otters 4")

    assert served[:2] == ["brave", "brave"]
    assert upstreams.providers()[2] != "brave"
    assert routing_of(tomorrow)["provider_used"] == "brave"


async def test_processes_that_share_counters_do_not_overspend_and_tenants_are_apart() -> None:
    counters = LocalCounters(lambda: NOW)
    plane = Backplane(counters=counters, leases=None, bus=Quiet())  # type: ignore[arg-type]
    upstreams = Upstreams({"brave.com": pages("https://a.example/"), "duckduckgo": NOTHING["duckduckgo"]})
    environ = {**BRAVE, "SPECLOOM_MAX_PAID_CALLS_PER_DAY": "2", "BRAVE_RATE": "100/s"}
    one, two, other = (
        Product(upstreams, environ, backplane=plane, owner=join_owner(*owner))
        for owner in (("acme", "ann"), ("acme", "bob"), ("umbra", "eve"))
    )

    for at, product in enumerate((one, two, one, two, other)):
        await product.call("web_search", query=f"otters {at}")

    assert upstreams.count()["brave"] == 3


async def test_a_session_has_a_ceiling_of_its_own() -> None:
    upstreams = Upstreams({"brave.com": pages("https://a.example/"), "duckduckgo": NOTHING["duckduckgo"]})
    product = Product(upstreams, {**BRAVE, "SPECLOOM_MAX_USD_PER_SESSION": "0.005", "BRAVE_RATE": "100/s"})

    for at, session in enumerate(("s1", "s1", "s2")):
        await product.call("web_search", query=f"otters {at}", sessionId=session)

    assert upstreams.count()["brave"] == 2


async def test_what_fails_is_not_paid_for() -> None:
    upstreams = Upstreams({"brave.com": (500, {}, {}), "duckduckgo": NOTHING["duckduckgo"]})

    result = await Product(upstreams, BRAVE).call("web_search", query="otters")

    assert cost_of(result)["by"]["brave"]["requests"] >= 1
    assert cost_of(result)["usd"] == 0


async def test_what_the_upstream_says_that_it_cost_counts() -> None:
    found = {"results": [{"title": "A", "url": "https://a.example/"}], "costDollars": {"total": 0.0123}}
    upstreams = Upstreams({"exa.ai": found})

    result = await Product(upstreams, {"EXA_API_KEY": "k"}).call("web_search", query="otters", provider="exa")

    assert cost_of(result) == {"usd": 0.0123, "requests": 1, "by": {"exa": {"requests": 1, "usd": 0.0123}}}


async def test_a_plan_of_the_operators_own_has_its_price() -> None:
    upstreams = Upstreams({"brave.com": pages("https://a.example/")})

    result = await Product(upstreams, {**BRAVE, "BRAVE_USD": "0.003"}).call("web_search", query="otters")

    assert cost_of(result)["usd"] == 0.003


@pytest.mark.parametrize(("order", "first"), [("written", "brave"), ("cheap", "searxng")])
async def test_the_cheap_ones_come_first_where_that_is_set(order: str, first: str) -> None:
    upstreams = Upstreams(
        {"brave.com": pages("https://a.example/"), "searx": {"results": [{"url": "https://b.example/"}]}}
    )
    environ = {**BRAVE, "SEARXNG_URL": KEYS["SEARXNG_URL"], "SPECLOOM_SEARCH_ORDER": order}

    result = await Product(upstreams, environ).call("web_search", query="otters")

    assert routing_of(result)["providers_attempted"] == [first]


# --- Pace (D2, D11) --------------------------------------------------------------------------------------------------


class Quiet:
    """A bus on which nobody tells anything."""

    async def tell(self, topic: str, payload: bytes) -> None:
        """Nobody listens."""

    async def listen(self, topic: str) -> Any:
        """Nothing is ever told."""
        return
        yield


async def test_a_short_wait_is_waited_for_and_the_next_call_succeeds() -> None:
    waits = iter([(429, {"retry-after": "1"}, {}), pages("https://a.example/"), pages("https://b.example/")])
    upstreams = Upstreams({"brave.com": lambda _: next(waits)})
    product = Product(upstreams, {**BRAVE, "BRAVE_RATE": "100/s"})

    first = await product.call("web_search", query="otters", provider="brave")
    second = await product.call("web_search", query="sea otters", provider="brave")

    assert '"retryAfterSeconds":1' in first["content"][0]["text"].replace(" ", "")
    assert second["structuredContent"]["urls"] == ["https://a.example/"]
    assert product.executor.breakers.resting() == frozenset()


async def test_a_long_wait_is_obeyed_to_its_second_and_told_as_what_it_is() -> None:
    now = Clock()
    upstreams = Upstreams({"brave.com": (429, {"retry-after": "20"}, {})})
    breakers = Breakers(clock=now)
    product = Product(upstreams, {**BRAVE, "BRAVE_RATE": "100/s"}, clock=now, breakers=breakers)
    await product.call("web_search", query="otters", provider="brave")
    now.now += 7

    told = (await product.call("web_search", query="sea otters", provider="brave"))["content"][0]["text"]
    now.now += 13
    upstreams.stubs = {"brave.com": pages("https://a.example/")}
    after = await product.call("web_search", query="giant otters", provider="brave")

    error = json.loads(told[told.index("{") :])["error"]
    assert (error["kind"], error["suggestedAction"], error["retryAfterSeconds"]) == (
        "rate_limited",
        "retry_after_delay",
        13,
    )
    assert after["structuredContent"]["urls"] == ["https://a.example/"]


@pytest.mark.parametrize(
    ("environ", "headers", "seconds"),
    [({}, {}, 1.0), ({"BRAVE_RATE": "50/s"}, {}, 0.02), ({}, {"x-ratelimit-limit": "50, 0"}, 0.02)],
)
async def test_the_pace_is_that_of_the_operator_or_what_the_upstream_tells(
    environ: dict[str, str], headers: dict[str, str], seconds: float
) -> None:
    upstreams = Upstreams({"brave.com": (200, headers, pages("https://a.example/"))})
    product = Product(upstreams, {**BRAVE, **environ})

    await product.call("web_search", query="otters", provider="brave")

    rate = product.executor.upstreams.pace_of("brave")
    assert rate is not None
    assert rate.per / rate.count == pytest.approx(seconds)


async def test_a_pace_that_cannot_be_read_is_told_and_that_of_the_spec_holds() -> None:
    product = Product(Upstreams(), {**BRAVE, "BRAVE_RATE": "fast"})

    assert any(one.startswith("BRAVE_RATE: 'fast' is not a rate") for one in product.executor.problems)
