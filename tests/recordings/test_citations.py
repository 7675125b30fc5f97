"""Citations as Semantic Scholar and OpenAlex were recorded; the former asked for titles only."""

from __future__ import annotations

import pytest

from specloom.core.faults import Fault
from tests.support.recordings import recorded, replay

EMAIL = {"OPENALEX_EMAIL": "ann@example.org"}
SEED = [{"paperId": "5eed", "title": "Seed"}]


def test_a_hundred_citing_papers_are_cut_to_what_was_asked_for() -> None:
    args = {"paper": "10.2139/ssrn.2250500", "doi": "10.2139/ssrn.2250500", "direction": "cited_by", "num_results": 25}
    body = {"named": SEED, "edges": recorded("semantic-scholar/paper-citations.json")}

    rows, requests = replay("semanticscholar", "citations", args, body)

    assert [request.get("post", request.get("get")) for request in requests] == [
        "https://api.semanticscholar.org/graph/v1/paper/batch",
        "https://api.semanticscholar.org/graph/v1/paper/5eed/citations",
    ]
    assert requests[0]["json"] == {"ids": ["DOI:10.2139/ssrn.2250500"]}
    assert len(rows) == 25
    assert rows[0]["title"] == (
        "We’ve got you covered! The effect of public health insurance on rural entrepreneurship in China"
    )
    assert rows[0]["url"] == "https://www.semanticscholar.org/paper/344e7fb2000d9063cbc9deb550e46946bafe3c90"
    assert {row["edge"] for row in rows} == {"cited_by"}


def test_references_that_could_not_be_matched_have_no_page_and_are_left_out() -> None:
    args = {"paper": "10.2139/ssrn.2250500", "doi": "10.2139/ssrn.2250500", "direction": "references"}
    body = {"named": SEED, "edges": recorded("semantic-scholar/paper-references.json")}

    rows, _ = replay("semanticscholar", "citations", args, body)

    assert 0 < len(rows) < 50
    assert rows[0]["title"] == (
        "Group lending or individual lending? Evidence from a randomised field experiment in Mongolia"
    )
    assert {row["edge"] for row in rows} == {"references"}


def test_a_recorded_match_of_a_title_names_the_paper() -> None:
    args = {"paper": "Augmenting large language models", "title": "Augmenting large language models"}
    body = {
        "titled": recorded("semantic-scholar/paper-search-match-full.json"),
        "edges": {"data": []},
        "cited": {"data": [{"citedPaper": {"paperId": "r1", "title": "Cited"}}]},
    }

    rows, requests = replay("semanticscholar", "citations", args, body)

    assert requests[1]["get"].endswith("/paper/354dcdebf3f8b5feeed5c62090e0bc1f0c28db06/citations")
    assert rows[0]["seed_title"] == "Augmenting large language models with chemistry tools"


def test_a_title_without_a_match_is_not_found() -> None:
    args = {"paper": "abs12032jsdafn", "title": "abs12032jsdafn"}

    with pytest.raises(Fault) as refused:
        replay(
            "semanticscholar", "citations", args, recorded("semantic-scholar/error-404-title-match.json"), status=404
        )

    assert refused.value.kind == "not_found"


def test_a_paper_unknown_to_the_batch_is_not_found() -> None:
    # The recorded batch begins with a null, which is what a single unknown id gives.
    with pytest.raises(Fault) as refused:
        replay(
            "semanticscholar",
            "citations",
            {"paper": "10.1000/x", "doi": "10.1000/x"},
            recorded("semantic-scholar/paper-batch-with-null.json"),
        )

    assert refused.value.kind == "not_found"


def test_a_recorded_work_leads_to_its_edges_by_its_id() -> None:
    args = {"paper": "10.1371/journal.pone.0000030", "doi": "10.1371/journal.pone.0000030", "num_results": 5}
    works = recorded("openalex/works-sample-5.json")
    body = {"named": recorded("openalex/work-journal-article.json"), "edges": works, "cited": works}

    rows, requests = replay("openalex", "citations", args, body, config=EMAIL)

    assert requests[0]["get"] == "https://api.openalex.org/works/doi%3A10.1371%2Fjournal.pone.0000030"
    assert requests[1]["query"]["filter"] == "cites:W1982728624"
    wanted = requests[2]["query"]["filter"]
    assert wanted.startswith("openalex_id:W181782372|W1482426105|")
    assert wanted.count("|") == 75
    assert len(rows) == 10
    assert rows[0]["seed_title"] == (
        "Triose Phosphate Isomerase Deficiency Is Caused by Altered Dimerization–Not Catalytic Inactivity–"
        "of the Mutant Enzymes"
    )
    assert rows[4]["citation_count"] == 106
    assert rows[4]["doi"] == "10.1016/j.landusepol.2004.08.009"
    assert rows[9]["edge"] == "references"


def test_a_title_becomes_its_first_hit() -> None:
    title = "Effect of native oxide layers on copper thin-film tensile properties: A reactive molecular dynamics study"
    body = {
        "titled": recorded("openalex/works-filter-title-search.json"),
        "edges": recorded("openalex/works-sample-5.json"),
    }
    args = {"paper": title, "title": title, "direction": "cited_by"}

    rows, requests = replay("openalex", "citations", args, body, config=EMAIL)

    assert requests[0]["query"]["search"] == title
    assert requests[1]["query"]["filter"] == "cites:W2277923667"
    assert rows[0]["seed_title"] == title


def test_an_unknown_work_is_not_found_although_the_page_is_html() -> None:
    with pytest.raises(Fault) as refused:
        replay(
            "openalex",
            "citations",
            {"paper": "10.1046/x", "doi": "10.1046/x"},
            recorded("openalex/error-404-work.html"),
            config=EMAIL,
            status=404,
        )

    assert refused.value.kind == "not_found"
