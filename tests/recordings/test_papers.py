"""Recorded answers of the real upstreams resolve through the tools; without recordings the tests are skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.paper_store import PDF, World, pdf

# Read when the tests are collected: while they run, the environment is empty.
FIXTURES = Path(os.environ.get("SPECLOOM_FIXTURES") or Path(__file__).parents[3] / "shared" / "fixtures")
CROSSREF, UNPAYWALL = "api.crossref.org/works", "api.unpaywall.org/v2"


def recorded(name: str) -> bytes:
    """The body of a recorded answer."""
    path = FIXTURES / "providers" / name
    if not path.is_file():
        pytest.skip(f"there is no recording {path}; SPECLOOM_FIXTURES names the folder that holds providers/")
    return path.read_bytes()


def plays(world: World, place: str, name: str, kind: str = "application/json") -> None:
    world.pages[place] = 200, {"Content-Type": kind}, recorded(name)


def test_an_article_of_crossref_is_kept_with_all_that_it_says(world: World) -> None:
    plays(
        world, f"{CROSSREF}/10.1371%2Fjournal.pone.0033693", "crossref/work-journal-article-updated-by-correction.json"
    )

    told = world.call("metadata_only", ref="10.1371/journal.pone.0033693")

    assert told["source"] == "crossref"
    assert told["metadata"]["publisher"] == "Public Library of Science (PLoS)"
    stored = world.call("info", ref="10.1371/journal.pone.0033693")["metadata"]
    assert stored["title"].startswith("Methylphenidate Exposure Induces Dopamine Neuron Loss")
    assert (stored["venue"], stored["volume"], stored["issue"], stored["pages"]) == ("PLoS ONE", "7", "3", "e33693")
    assert (stored["issn"], stored["type"], len(stored["authors"])) == ("1932-6203", "journal-article", 6)
    assert stored["doiget"]["short_venue"] == "PLoS ONE"


def test_a_title_with_markup_is_kept_as_text(world: World) -> None:
    plays(world, f"{CROSSREF}/10.1101%2F2020.12.01.406702", "crossref/work-posted-content-preprint.json")

    world.call("metadata_only", ref="10.1101/2020.12.01.406702")

    title = world.call("info", ref="10.1101/2020.12.01.406702")["metadata"]["title"]
    assert title == (
        "Identification of a novel cationic glycolipid in Streptococcus agalactiae "
        "that contributes to brain entry and meningitis"
    )


def test_an_open_article_is_fetched_from_where_unpaywall_says(world: World) -> None:
    plays(world, f"{UNPAYWALL}/10.1016%2Fj.xgen.2025.100814", "unpaywall/doi-gold.json")
    world.pages |= {
        "doi.org/10.1016/j.xgen.2025.100814": (302, {"Location": "https://www.sciencedirect.com/x.pdf"}, b""),
        "www.sciencedirect.com/x.pdf": pdf(),
    }

    told = world.call("fetch_paper", ref="10.1016/j.xgen.2025.100814")

    assert told["pdf"] == {"status": "fetched"}
    assert (told["oa_status"], told["license"], told["size_bytes"]) == ("gold", "cc-by", len(PDF))
    assert told["title"] == "High-throughput screening of human genetic variants by pooled prime editing"
    assert told["authors"][:2] == ["Michael Herger", "Christina M. Kajba"]


def test_a_closed_article_is_known_to_be_closed(world: World) -> None:
    plays(world, f"{UNPAYWALL}/10.1023%2FA%3A1007154515475", "unpaywall/doi-closed-old.json")

    told = world.call("fetch_paper", ref="10.1023/A:1007154515475")

    assert told["pdf"] == {"status": "no_oa_url"}
    assert (told["source"], told["oa_status"], told["year"]) == ("unpaywall", "closed", 2001)


def test_a_preprint_of_arxiv_is_fetched_with_its_subjects(world: World) -> None:
    plays(world, "export.arxiv.org/api/query", "arxiv/id-single.xml", "application/atom+xml")
    world.pages["arxiv.org/pdf/1605.08386v1"] = pdf()

    told = world.call("fetch_paper", ref="1605.08386")

    assert told["title"] == "Heat-bath random walks with Markov bases"
    assert (told["year"], told["license"], told["pdf"]) == (2016, "arxiv-default", {"status": "fetched"})
    stored = world.call("info", ref="1605.08386")["metadata"]
    assert stored["arxiv_categories"] == ["math.CO", "math.ST"]
    assert "primaryClass = {math.CO}" in world.call("bibtex_export", refs=["1605.08386"])["entries"][0]["bibtex"]


@pytest.mark.parametrize("name", ["id-empty", "error-400-bad-id"])
def test_an_identifier_that_arxiv_does_not_have_is_not_found(world: World, name: str) -> None:
    plays(world, "export.arxiv.org/api/query", f"arxiv/{name}.xml", "application/atom+xml")

    assert world.call("resolve_paper", ref="0000.0000")["error"]["code"] == "NOT_FOUND"


def test_references_of_openalex_are_walked(world: World) -> None:
    world.environ = {"DOIGET_ENABLE_OPENALEX": "1"}
    plays(world, "api.openalex.org/works/doi%3A10.7554%2Felife.01567", "openalex/work-article-elife.json")

    told = world.call("expand_citation_graph", ref="10.7554/elife.01567", depth=1)

    assert told["seed_work_id"] == "W2121398592"
    assert told["nodes"][0]["doi"] == "10.7554/elife.01567"
    assert told["nodes"][0]["title"]
    assert told["edges"][0] == {"from": "W2121398592", "to": "W1964940342"}
    assert (len(told["nodes"]), told["truncated"]) == (21, True)


def test_an_article_that_only_a_directory_of_open_journals_knows_is_kept(world: World) -> None:
    doi = "10.1038/s41467-020-15686-y"
    world.environ = {"DOIGET_ENABLE_DOAJ": "1"}
    plays(world, f"doaj.org/api/v4/search/articles/doi%3A%22{doi.replace('/', '%2F')}%22", "doaj/article-search.json")

    told = world.call("metadata_only", ref=doi)

    assert told["source"] == "doaj"
    stored = world.call("info", ref=doi)["metadata"]
    assert stored["title"] == "Brain insulin sensitivity is linked to adiposity and body fat distribution"
    assert (stored["year"], stored["venue"], stored["publisher"]) == (
        2020,
        "Nature Communications",
        "Nature Publishing Group",
    )
    assert stored["authors"][:2] == ["Stephanie Kullmann", "Vera Valenta"]
    assert len(stored["authors"]) == 9


def test_an_article_that_only_a_scholarly_index_knows_is_kept(world: World) -> None:
    world.environ = {"DOIGET_ENABLE_S2": "0"}
    body = b"[" + recorded("semantic-scholar/paper-by-doi-full.json") + b"]"
    world.pages["api.semanticscholar.org/graph/v1/paper/batch"] = 200, {"Content-Type": "application/json"}, body

    told = world.call("metadata_only", ref="10.1038/s42256-024-00832-8")

    assert told["source"] == "s2"
    assert world.call("capability_profile")["metadata_sources"] == ["semantic_scholar"]
    stored = world.call("info", ref="10.1038/s42256-024-00832-8")["metadata"]
    assert stored["title"] == "Augmenting large language models with chemistry tools"
    assert (stored["year"], stored["venue"]) == (2023, "Nat. Mac. Intell.")
    assert stored["authors"][-1] == "P. Schwaller"


def test_a_data_set_that_only_its_own_agency_knows_is_kept(world: World) -> None:
    world.environ = {"DOIGET_ENABLE_DATACITE": "1"}
    body = recorded("datacite/doi-zenodo-multiple-identifiers.json")
    world.pages["api.datacite.org/dois/10.5281%2Fzenodo.48440"] = 200, {"Content-Type": "application/json"}, body

    told = world.call("metadata_only", ref="10.5281/zenodo.48440")

    assert told["source"] == "datacite"
    stored = world.call("info", ref="10.5281/zenodo.48440")["metadata"]
    assert stored["title"] == "Analysis Tools for Crossover Experiment of UI using Choice Architecture"
    assert (stored["authors"], stored["year"], stored["publisher"]) == (["Kristian Garza"], 2016, "Zenodo")


def test_a_search_of_openalex_is_told_with_what_it_knows(world: World) -> None:
    plays(world, "api.openalex.org/works", "openalex/works-filter-title-search.json")

    told = world.call("paper_search", query="native oxide layers copper thin film")

    assert (told["total_results"], told["count"]) == (1, 1)
    [one] = told["results"]
    assert one["title"].startswith("Effect of native oxide layers on copper thin-film tensile properties")
    assert (one["doi"], one["openalex_id"], one["year"]) == ("10.1063/1.4938384", "W2277923667", 2015)
    assert (one["venue"], one["oa_status"]) == ("Journal of Applied Physics", "closed")
    assert one["authors"] == ["Michael Skarlinski", "David J. Quesnel"]


def test_a_paper_of_openalex_without_a_preprint_is_told_as_one(world: World) -> None:
    plays(world, "api.openalex.org/works/doi%3A10.7554%2Felife.01567", "openalex/work-article-elife.json")

    told = world.call("link", ref="10.7554/elife.01567")

    assert (told["arxiv"], told["openalex_id"]) == (None, "W2121398592")


def test_a_citation_finds_its_work_among_those_of_crossref(world: World) -> None:
    plays(world, "api.crossref.org/works", "crossref/works-filter-prefix-type-rows20.json")

    told = world.call(
        "resolve_citation",
        query="Bai et al. Image retrieval based on color features integrated with anisotropic directionality, 2010",
    )

    assert [one["doi"] for one in told["candidates"]] == ["10.3969/j.issn.1004-4132.2010.01.020"]
    [one] = told["candidates"]
    assert (one["year"], one["confidence"]) == (2010, "probable")
    assert one["matched"][:2] == ["bai", "image"]
