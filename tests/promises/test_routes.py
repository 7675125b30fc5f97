"""What a client is told of a search over several providers is what happened, and the route is the right one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from specloom.authoring.explain import explain
from specloom.cli.doctor import examine
from specloom.compiler.build import weave_from
from specloom.specs.library import shipped_root
from tests.promises.test_failing_providers import at_once
from tests.support.clock import Clock
from tests.support.stubbed import Product, Upstreams, articles, works

KEYS = {
    "GOOGLE_CUSTOM_SEARCH_API_KEY": "made-up-1",
    "GOOGLE_CUSTOM_SEARCH_ID": "made-up-2",
    "BRAVE_API_KEY": "made-up-3",
    "SERPER_API_KEY": "made-up-4",
    "SEARCHAPI_API_KEY": "made-up-5",
    "TAVILY_API_KEY": "made-up-6",
    "EXA_API_KEY": "made-up-7",
    "SEARXNG_URL": "https://searx.example.org",
}
"""Every engine of the web."""
NOTHING = {
    "googleapis": {"searchInformation": {"totalResults": "0"}},
    "brave.com": {"web": {"results": []}, "results": []},
    "serper.dev": {"organic": [], "news": [], "images": []},
    "searchapi.io": {"organic_results": [], "images": []},
    "tavily.com": {"results": []},
    "exa.ai": {"results": []},
    "searx.example.org": {"results": []},
    "api.you.com": {"results": {"web": [], "news": []}},
    "marginalia": {"results": []},
    "wikipedia.org": {"query": {"search": []}},
    "news.google.com": "<rss><channel><title>otters</title></channel></rss>",
    "bing.com": "<rss><channel><title>otters</title></channel></rss>",
    "gdeltproject.org": {},
    "algolia.com": {"hits": []},
    "openverse.org": {"results": []},
    "commons.wikimedia.org": {"batchcomplete": True},
    "duckduckgo": '<html><body><div class="results"><div class="no-results">No results.</div></div></body></html>',
}
"""Every engine of the web, none of which finds anything."""


def routing_of(result: dict[str, Any]) -> dict[str, Any]:
    """What `_meta` says of the route."""
    told: dict[str, Any] = result["_meta"]["routing"]
    return told


# --- Empty is judged after the filters, and who can hold to a filter goes first (D0) ---------------------------------


@pytest.mark.parametrize("wanted", ["open_access", "pdf_only"])
async def test_rows_that_no_filter_lets_through_are_no_answer(wanted: str) -> None:
    upstreams = Upstreams({"api.crossref.org/works": works("A", "B", "C"), "europepmc": articles("D", "E")})

    answer = await Product(upstreams).answer("academic_search", query="otters", **{wanted: True})

    assert [one["title"] for one in answer["papers"]] == ["D", "E"]


async def test_without_a_key_patents_of_another_office_are_no_answer() -> None:
    def page(number: str) -> dict[str, str]:
        return {"title": f"{number} - Otter box", "url": f"https://patents.google.com/patent/{number}/en"}

    upstreams = Upstreams(
        {
            "api.you.com": {"results": {"web": [page("EP1000001A1"), page("US7654321B2")]}},
            "duckduckgo": NOTHING["duckduckgo"],
            "marginalia": {"page": 1, "pages": 1, "results": [page("JP2020000001A")]},
        }
    )

    answer = await Product(upstreams).answer("patent_search", query="otter box", patent_office="JP")

    assert [one["number"] for one in answer["patents"]] == ["JP2020000001A"]


async def test_who_knows_the_filter_is_asked_before_who_does_not() -> None:
    environ = {**KEYS, "SPECLOOM_MAX_CALLS_PER_QUESTION": "0"}

    plain, german = [
        routing_of(await Product(Upstreams(NOTHING), environ).call("news_search", query="otters", **narrowed))
        for narrowed in ({}, {"language": "de"})
    ]

    # Tavily knows no language, and SearXNG does.
    orders = [one["providers_attempted"] for one in (plain, german)]
    assert [order.index("tavily") < order.index("searxng") for order in orders] == [True, False]


async def test_what_the_filters_took_out_is_told_where_nobody_has_anything_else() -> None:
    upstreams = Upstreams({"api.crossref.org/works": works("A", "B", "C")})

    answer = await Product(upstreams).answer("academic_search", query="otters", provider="crossref", pdf_only=True)

    assert answer["removed"]["withoutPdf"] == 3
    assert answer["hints"]["providersAttempted"] == ["crossref"]


# --- Nobody is told as asked who was not (D4) ------------------------------------------------------------------------


async def test_who_was_not_asked_by_name_is_not_told_as_asked() -> None:
    upstreams = Upstreams()

    answer = await Product(upstreams).answer("academic_search", query="otters", source="arxiv", provider="crossref")

    assert upstreams.asked == []
    assert answer["hints"]["reason"] == "not_asked"
    assert "providersAttempted" not in answer["hints"]
    assert answer["hints"]["suggestedActions"][0]["action"] == "try_different_provider"
    assert answer["notices"] == ["Crossref was not asked: these arguments ask for what it cannot have."]


async def test_who_was_passed_over_in_a_route_is_not_told_as_asked() -> None:
    atom = (
        '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/abs/2401.00001v1</id>'
        "<title>Otters</title><published>2024-01-01T00:00:00Z</published></entry></feed>"
    )
    upstreams = Upstreams({"export.arxiv.org": atom})

    result = await Product(upstreams).call("academic_search", query="otters", source="arxiv")

    told = routing_of(result)
    assert told["provider_used"] == "arxiv"
    assert told["providers_attempted"] == ["openalex", "arxiv"]
    assert {"provider": "crossref", "result": "not_asked"} in told["attempts"]


async def test_who_is_asked_by_name_alone_is_asked_where_nobody_else_has_anything_only_by_name() -> None:
    environ = {"SCHOLAR_API_KEY": "made-up-1"}
    unnamed, named = Upstreams(NOTHING), Upstreams(NOTHING)

    await Product(unnamed, environ).call("academic_search", query="otters")
    await Product(named, environ).call("academic_search", query="otters", provider="scholarapi")

    assert unnamed.count()["crossref"] > 0
    assert unnamed.count()["scholarapi"] == 0
    assert set(named.providers()) == {"scholarapi"}


OWN = """
spec: provider/1
name: shelf
title: Shelf
service: {base: "https://shelf.example.org"}
operations:
  scholarly:
    input: [query]
    steps:
      - get: /find
        query: {q: =args.query}
        json: {each: papers, map: {title: {at: title, required: true}, url: {at: url, required: true}}}
examples:
  - name: a paper is found
    operation: scholarly
    args: {query: otters}
    replies: {main: {json: {papers: [{title: A, url: "https://a.example.org/"}]}}}
    expect: {sent: {main: {get: "https://shelf.example.org/find", query: {q: otters}}}, rows: [{title: A}]}
"""


async def test_a_provider_of_ones_own_is_asked_by_name_or_by_a_route_alone(tmp_path: Path) -> None:
    (tmp_path / "providers.d").mkdir()
    (tmp_path / "providers.d" / "shelf.yaml").write_text(OWN.lstrip(), encoding="utf-8")
    model, _, report = weave_from([shipped_root(), tmp_path])
    assert not report.errors
    found = {**NOTHING, "shelf.example.org": {"papers": [{"title": "A", "url": "https://a.example.org/"}]}}

    async def asked(environ: dict[str, str], **arguments: str) -> int:
        upstreams = Upstreams(found)
        await Product(upstreams, environ, model=model).call("academic_search", query="otters", **arguments)
        return upstreams.count()["shelf"]

    assert await asked({}) == 0
    assert await asked({}, provider="shelf") == 1
    assert await asked({"SEARCH_ROUTING": '{"academic": "shelf"}'}) == 1
    assert await asked({"SEARCH_ROUTING": '{"academic": "crossref"}'}) == 0


async def test_a_refusal_of_who_wants_no_key_asks_for_none() -> None:
    upstreams = Upstreams({}, otherwise=(403, {}, {}))

    result = await Product(upstreams).call("web_search", query="otters")

    told = result["content"][0]["text"]
    assert "refuses requests of this server (HTTP 403)" in told
    assert "wants a key" not in told


# --- One rule for `_meta.routing` (D9) -------------------------------------------------------------------------------


async def test_where_everybody_was_empty_everybody_is_named_and_nobody_as_the_one_that_answered() -> None:
    upstreams = Upstreams(NOTHING)

    result = await Product(upstreams, {**KEYS, "SPECLOOM_MAX_CALLS_PER_QUESTION": "0"}).call(
        "news_search", query="otters"
    )

    told = routing_of(result)
    assert told["providers_attempted"] == list(dict.fromkeys(upstreams.providers()))
    assert len(told["providers_attempted"]) >= 7
    assert "provider_used" not in told
    assert {one["result"] for one in told["attempts"]} == {"empty"}
    assert (told["fallback"], told["fallback_reason"]) == (True, "no_results")
    assert result["structuredContent"]["hints"]["providersAttempted"] == told["providers_attempted"]


async def test_parts_that_are_asked_side_by_side_are_no_fallback() -> None:
    upstreams = Upstreams({"crt.sh": [], "googleapis": NOTHING["googleapis"]}, otherwise={})

    result = await Product(upstreams, {name: KEYS[name] for name in list(KEYS)[:2]}).call(
        "company_recon", target="example.org"
    )

    assert "fallback" not in routing_of(result)


async def test_an_empty_first_answer_is_the_reason_that_is_told() -> None:
    found = {"web": {"results": [{"title": "A", "url": "https://a.example/"}]}}
    upstreams = Upstreams({**NOTHING, "brave.com": found})

    result = await Product(upstreams, KEYS).call("web_search", query="otters")

    assert routing_of(result)["provider_used"] == "brave"
    assert routing_of(result)["fallback_reason"] == "no_results"


async def test_who_names_the_provider_is_told_of_no_route() -> None:
    upstreams = Upstreams({"brave.com": {"web": {"results": [{"title": "A", "url": "https://a.example/"}]}}})

    result = await Product(upstreams, KEYS).call("web_search", query="otters", provider="brave")

    assert "routing" not in result["_meta"]


async def test_a_search_of_one_provider_tells_its_route_as_well() -> None:
    upstreams = Upstreams({"clinicaltrials.gov": {"studies": [], "totalCount": 0}})

    result = await Product(upstreams).call("clinical_search", query="otters")

    assert routing_of(result)["providers_attempted"] == ["clinicaltrials"]


# --- A site and a lens are promises (D10), and a language may have a region (D13) ------------------------------------


def pages(*addresses: str) -> dict[str, Any]:
    """What Brave answers to a search."""
    return {"web": {"results": [{"title": one, "url": one} for one in addresses]}}


@pytest.mark.parametrize(
    "within", [{"site": "example.org"}, {"sites": ["example.org", "b.test/otters"]}, {"lens": "academic"}]
)
async def test_rows_outside_the_sites_are_removed_and_counted(within: dict[str, Any]) -> None:
    found = pages(
        "https://www.example.org/a", "https://arxiv.org/abs/1", "https://evil-example.org/", "https://b.test/ot"
    )
    upstreams = Upstreams({"brave.com": found})

    answer = await Product(upstreams, {"BRAVE_API_KEY": "k"}).answer("web_search", query="otters", **within)

    assert answer["urls"] == (["https://arxiv.org/abs/1"] if "lens" in within else ["https://www.example.org/a"])
    assert answer["removed"] == {"otherSites": 3}


async def test_where_an_engine_ignores_the_site_the_next_one_is_asked() -> None:
    upstreams = Upstreams(
        {
            **NOTHING,
            "brave.com": pages("https://go.dev/"),
            "serper.dev": {"organic": [{"link": "https://example.org/a"}]},
        }
    )

    result = await Product(upstreams, KEYS).call("web_search", query="otters", site="example.org")

    assert result["structuredContent"]["urls"] == ["https://example.org/a"]
    assert {"provider": "brave", "result": "filtered"} in routing_of(result)["attempts"]


@pytest.mark.parametrize(
    ("tag", "sent"), [("pt-BR", "pt-br"), ("EN", "en"), ("zh-TW", "zh-hant"), ("zh-Hans", "zh-hans"), ("pt", "pt-pt")]
)
async def test_a_language_is_sent_as_the_longest_tag_that_the_engine_has(tag: str, sent: str) -> None:
    upstreams = Upstreams({"brave.com": pages("https://a.example/")})

    await Product(upstreams, {"BRAVE_API_KEY": "k"}).call("web_search", query="otters", language=tag)

    query = dict(upstreams.asked[0].query)
    assert query["search_lang"] == sent
    assert "country" not in query


# --- Citations: what was left out is not told as none, and a filter is held to (D7) ----------------------------------

SEED = {"paper/batch": [{"paperId": "5eed", "title": "About otters"}]}


def citing(*papers: tuple[str, int, bool]) -> dict[str, Any]:
    """What Semantic Scholar lists as citing: titles with their counts, and whether it is an influential citation."""
    return {
        "data": [
            {"isInfluential": strong, "citingPaper": {"paperId": title, "title": title, "citationCount": count}}
            for title, count, strong in papers
        ]
    }


async def test_a_direction_that_was_not_asked_for_is_not_there() -> None:
    upstreams = Upstreams({**SEED, "/references": {"data": []}, "/citations": citing(("A", 1, False))})

    back = await Product(upstreams).answer("citation_graph", paper="10.1000/seed", direction="references")
    forth = await Product(upstreams).answer("citation_graph", paper="10.1000/seed", direction="cited_by")

    assert ("citedBy" in back, "references" in back) == (False, True)
    assert ("citedBy" in forth, "references" in forth) == (True, False)


async def test_ordinary_citations_are_never_given_for_influential_ones() -> None:
    upstreams = Upstreams({**SEED, "/citations": citing(("A", 1, False))})

    answer = await Product(upstreams).answer(
        "citation_graph", paper="10.1000/seed", direction="cited_by", influential_only=True
    )

    assert answer["citedBy"] == []
    assert answer["note"] == "semanticscholar counts no citation of this paper as influential"
    assert set(upstreams.providers()) == {"semanticscholar"}


async def test_of_many_citations_the_most_cited_are_given() -> None:
    upstreams = Upstreams({**SEED, "/citations": citing(("P1", 1, False), ("P500", 500, True), ("P7", 7, False))})

    answer = await Product(upstreams).answer(
        "citation_graph", paper="10.1000/seed", direction="cited_by", num_results=2
    )

    assert [one["title"] for one in answer["citedBy"]] == ["P500", "P7"]


async def test_an_upstream_that_ignores_the_size_of_a_page_gives_no_more_than_was_asked_for() -> None:
    work = {"id": "https://openalex.org/W1", "title": "Otters", "referenced_works": []}
    found = {
        "meta": {"count": 5},
        "results": [{"id": f"https://openalex.org/W{at}", "title": str(at)} for at in range(5)],
    }
    upstreams = Upstreams({"openalex.org/works/": work, "openalex.org/works": found})

    answer = await Product(upstreams).answer(
        "citation_graph", paper="10.1000/seed", direction="cited_by", num_results=2, provider="openalex"
    )

    assert len(answer["citedBy"]) == 2


# --- A publisher is all of its journals (D6), and the date sorts the best matches (D5) -------------------------------


@pytest.mark.parametrize("source", ["ieee", "nature", "springer"])
async def test_a_publisher_is_asked_for_with_all_its_imprints_and_without_any_setting(source: str) -> None:
    found = {"meta": {"count": 1}, "results": [{"id": "https://openalex.org/W1", "title": "Otters"}]}
    upstreams = Upstreams({"api.openalex.org": found})

    await Product(upstreams).answer("academic_search", query="otters", source=source)

    sent = dict(upstreams.asked[0].query)
    assert upstreams.asked[0].provider == "openalex"
    assert sent["filter"].startswith("primary_location.source.publisher_lineage:P4310319")
    assert "mailto" not in sent


async def test_by_date_no_index_is_asked_for_its_newest() -> None:
    upstreams = Upstreams({"api.crossref.org/works": works("A", "B")})

    answer = await Product(upstreams).answer("academic_search", query="otters", sort_by="date", provider="crossref")

    sent = dict(upstreams.asked[0].query)
    assert "sort" not in sent
    assert sent["rows"] == "20"
    assert answer["notices"][0] == "Newest first among the 20 best matches, not among all that match."


# --- An upstream that ends leaves the routes on its day, and whoever named it goes on asking it ----------------------

ENDS = 1_798_761_600.0
"""2027-01-01."""
GOOGLE = {name: KEYS[name] for name in ("GOOGLE_CUSTOM_SEARCH_API_KEY", "GOOGLE_CUSTOM_SEARCH_ID", "BRAVE_API_KEY")}


async def test_a_search_that_ends_leaves_the_route_of_a_running_server_on_its_day() -> None:
    now = Clock(ENDS - 1)
    found = {"items": [{"title": "G", "link": "https://a.example/g"}]}
    product = Product(Upstreams({"googleapis": found, "brave.com": pages("https://a.example/b")}), GOOGLE, clock=now)

    before = await product.answer("web_search", query="otters")
    now.now = ENDS
    after = await product.answer("web_search", query="otters")

    assert (before["urls"], after["urls"]) == (["https://a.example/g"], ["https://a.example/b"])


@pytest.mark.parametrize("more", [{"provider": "google"}, {}])
async def test_who_names_it_goes_on_asking_it(more: dict[str, str]) -> None:
    found = {"items": [{"title": "G", "link": "https://a.example/g"}, {"link": "https://a.example/h"}]}
    environ = GOOGLE if more else {**GOOGLE, "SEARCH_ROUTING": "google,brave"}
    product = Product(Upstreams({"googleapis": found}), environ, clock=lambda: ENDS + 1)

    answer = await product.answer("web_search", query="otters", **more)

    assert answer["urls"] == ["https://a.example/g", "https://a.example/h"]


@pytest.mark.parametrize(("at", "says"), [(ENDS - 1, "leaves the routes on"), (ENDS, "out of the routes since")])
def test_doctor_says_when_and_why(at: float, says: str, tmp_path: Path) -> None:
    executor = Product(Upstreams(), GOOGLE, clock=lambda: at).executor

    found = [one for one in examine(executor, [], {}, tmp_path) if one.about == "google" and one.state == "warning"]

    assert [one.says for one in found] == [
        f"web, images, news: {says} 2027-01-01. Google ends its searches of the whole web; "
        "engines that are made for some sites go on."
    ]


def test_explain_says_why_nobody_asks_it() -> None:
    executor = Product(Upstreams(), GOOGLE, clock=lambda: ENDS).executor

    told = explain(executor, "web_search", {"query": "otters"})

    assert dict(told.left_out)["google"].startswith("in no route since 2027-01-01: Google ends its searches")


# --- Dates in the words of many languages, and rows that are older than was asked for (D14) --------------------------


@pytest.mark.parametrize(
    ("says", "known"),
    [
        ("yesterday", "2025-11-23T16:00:00Z"),
        ("just now", "2025-11-24T16:00:00Z"),
        ("vor 3 Stunden", "2025-11-24T13:00:00Z"),
        ("hace 2 días", "2025-11-22T16:00:00Z"),
        ("3時間前", "2025-11-24T13:00:00Z"),
        ("il y a une semaine", "2025-11-17T16:00:00Z"),
    ],
)
async def test_a_date_is_read_in_the_words_of_its_language(says: str, known: str) -> None:
    upstreams = Upstreams({"serper.dev": {"news": [{"title": "A", "link": "https://a.example/", "date": says}]}})

    answer = await Product(upstreams, {"SERPER_API_KEY": "k"}).answer("news_search", query="otters")

    assert answer["articles"][0]["publishedAt"] == known


async def test_news_that_are_known_to_be_older_are_cut_and_the_rest_is_sorted_by_date() -> None:
    dates = {"A": "3 weeks ago", "B": "2 days ago", "C": None, "D": "1 hour ago"}
    news = [{"title": name, "link": f"https://{name}.example/", "date": date} for name, date in dates.items()]
    upstreams = Upstreams({"serper.dev": {"news": news}})

    answer = await Product(upstreams, {"SERPER_API_KEY": "k"}).answer("news_search", query="otters", sort_by="date")

    assert [one["title"] for one in answer["articles"]] == ["D", "B", "C"]
    assert answer["removed"] == {"older": 1}


# --- What else a client is told in these searches (D14) --------------------------------------------------------------


async def test_news_say_what_kind_of_host_has_them_and_which_a_user_has_posted() -> None:
    addresses = ["https://www.reuters.com/a", "https://www.reddit.com/r/otters/b", "https://news.example.org/c"]
    news = [{"title": address[-1], "link": address} for address in addresses]

    answer = await Product(Upstreams({"serper.dev": {"news": news}}), {"SERPER_API_KEY": "k"}).answer(
        "news_search", query="otters"
    )

    labels = [(one.get("sourceType"), one.get("isSocialMedia")) for one in answer["articles"]]
    assert labels == [("news_publication", False), ("forum", True), (None, None)]


@pytest.mark.parametrize(("host", "warned"), [("shop.example.org", True), ("reuters.com", False)])
async def test_the_newest_pages_of_a_web_index_are_told_as_no_news_where_no_host_has_some(
    host: str, warned: bool
) -> None:
    items = [{"title": "A", "link": f"https://{host}/a"}]
    upstreams = Upstreams({"googleapis": {"items": items, "searchInformation": {"totalResults": "1"}}})

    answer = await Product(upstreams, KEYS).answer("news_search", query="otters", sort_by="date", provider="google")

    assert ("warning" in answer) is warned


async def test_titles_are_shown_without_markup_and_with_all_of_their_words() -> None:
    titles = {
        "H<sub>2</sub>O and CO<sub>2</sub> at 10<sup>-3</sup>": "H2O and CO2 at 10-3",
        "Hands of <i>Enhydra lutris</i> in R&amp;D": "Hands of Enhydra lutris in R&D",
        "Hands of &lt;i&gt;Lutra&lt;/i&gt;, caf&#233; and M&amp;amp;A": "Hands of Lutra, café and M&A",
        "Where x<y and z>w, and CD4 <200 &gt; 5": "Where x<y and z>w, and CD4 <200 > 5",
        "List<String> in a &lt;div&gt; of otters": "List<String> in a <div> of otters",
        "std::vector<std::string> and Optional<Object>": "std::vector<std::string> and Optional<Object>",
        "A <textarea>, a <VIDEO> and an <iframe>": "A , a and an",
        "<mml:math><mml:msub><mml:mi>Z</mml:mi><mml:mn>2</mml:mn></mml:msub></mml:math> weirs": "Z2 weirs",
        'The <scp class="x">DNA</scp> of<br/>otters': "The DNA of otters",
    }

    answer = await Product(Upstreams({"api.crossref.org/works": works(*titles)})).answer(
        "academic_search", query="otters", provider="crossref", num_results=20
    )

    assert [one["title"] for one in answer["papers"]] == list(titles.values())


async def test_a_key_of_one_letter_masks_no_word_of_what_failed() -> None:
    upstreams = Upstreams(otherwise=(422, {}, {"error": {"detail": "The key kind lacks rights to look back"}}))

    result = await Product(upstreams, {"BRAVE_API_KEY": "k"}).call("web_search", query="otters", provider="brave")

    told = result["content"][0]["text"]
    assert result["isError"]
    assert "•" not in told
    assert "Brave" in told


async def test_a_long_abstract_ends_behind_a_word_and_shows_that_it_goes_on() -> None:
    reply = works("Otters")
    reply["message"]["items"][0]["abstract"] = "<jats:p>" + "Otterholts " * 90 + "</jats:p>"
    upstreams = Upstreams({"api.crossref.org/works": reply})

    answer = await Product(upstreams).answer("academic_search", query="otters", provider="crossref")

    (paper,) = answer["papers"]
    assert paper["abstract"].endswith("Otterholts …")
    assert len(paper["abstract"]) <= 500


async def test_an_unknown_status_of_trials_is_refused_with_those_that_there_are() -> None:
    upstreams = Upstreams()

    result = await Product(upstreams).call("clinical_search", query="otters", status="ASLEEP")

    assert result["isError"]
    assert "ASLEEP" in result["content"][0]["text"]
    assert "RECRUITING" in result["content"][0]["text"]
    assert upstreams.asked == []


# --- Merged rows say who gave which field by the names that the reader sees -------------------------------------------


async def test_who_gave_which_field_is_told_by_the_names_of_the_answer() -> None:
    registered = {
        "title": ["Sea otters"],
        "DOI": "10.1234/a",
        "URL": "https://doi.org/10.1234/a",
        "ISBN": ["9780000000019"],
        "container-title": ["Otter Letters"],
    }
    indexed = {
        "id": "https://openalex.org/W1",
        "doi": "https://doi.org/10.1234/a",
        "title": "Sea otters",
        "cited_by_count": 7,
        "best_oa_location": {"pdf_url": "https://a.example.org/a.pdf"},
        "open_access": {"is_oa": True},
        "publication_date": "2020-02-01",
    }
    upstreams = Upstreams(
        {
            "api.crossref.org/works": {"message": {"items": [registered]}},
            "api.openalex.org/works": {"results": [indexed]},
        }
    )

    (paper,) = (await Product(upstreams).answer("academic_search", query="otters"))["papers"]

    assert paper["source"] == "crossref"
    assert paper["fieldsFrom"]["citationCount"] == paper["fieldsFrom"]["pdfUrl"] == "openalex"
    assert set(paper["fieldsFrom"]) <= set(paper)


async def test_of_two_fields_that_one_of_the_answer_is_read_from_the_one_counts_that_is_told() -> None:
    registers = {
        "auth/accesstoken": {"access_token": "t"},
        "api.lens.org": {
            "data": [
                {
                    "jurisdiction": "EP",
                    "doc_number": "1000001",
                    "kind": "A1",
                    "biblio": {"invention_title": [{"text": "Otter box"}]},
                    "abstract": [{"text": "A box for otters."}],
                }
            ]
        },
        "searchapi.io": {
            "organic_results": [
                {
                    "patent_id": "patent/EP1000001A1/en",
                    "title": "Otter box",
                    "snippet": "boxes",
                    "pdf": "https://x.example/p",
                }
            ]
        },
    }
    keys = {"LENS_API_TOKEN": "made-up-1", "SEARCHAPI_API_KEY": "made-up-2"}

    answer = await Product(Upstreams(registers), keys).answer("patent_search", query="otter box", depth="wide")

    (patent,) = answer["patents"]
    assert patent["abstract"] == "A box for otters."
    assert patent["fieldsFrom"] == {"pdf": "searchapi"}, "the excerpt of who has no abstract is not told"


# --- Where everybody failed nobody is sent to anybody else ------------------------------------------------------------


@pytest.mark.parametrize("tool", ["clinical_search", "image_search", "academic_search"])
async def test_where_all_there_are_have_failed_the_next_step_is_to_wait(tool: str) -> None:
    result = await Product(Upstreams(), model=at_once()).call(tool, query="otters")

    told = result["content"][0]["text"]
    error = json.loads(told[told.index("{") :])["error"]
    assert (error["retryable"], error["suggestedAction"]) == (True, "retry_after_delay")
    assert "alternatives" not in error


async def test_where_somebody_was_not_asked_they_are_the_next_step() -> None:
    result = await Product(Upstreams(), model=at_once()).call("academic_search", query="otters", provider="crossref")

    told = result["content"][0]["text"]
    error = json.loads(told[told.index("{") :])["error"]
    assert error["suggestedAction"] == "try_different_provider"
    assert error["alternatives"]
