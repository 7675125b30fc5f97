"""PubMed identifiers stand for the DOI that NCBI lists where references are taken, and for none where entries are."""

from __future__ import annotations

import pytest

from specloom.domains.papers.answers import parse_ref
from specloom.domains.text.paper_refs import pubmed_number
from tests.support.paper_store import World, as_json, crossref, pdf, unpaywall

DOI = "10.1234/otters"
NCBI = "eutils.ncbi.nlm.nih.gov/entrez/eutils/esummary.fcgi"


def ncbi(world: World, *identifiers: dict[str, str], error: str = "") -> None:
    """NCBI's summary of one article."""
    item = {"uid": "77", "error": error} if error else {"uid": "77", "articleids": list(identifiers)}
    world.pages[NCBI] = as_json({"result": {"uids": ["77"], "77": item}})


def known(world: World) -> None:
    ncbi(world, {"idtype": "doi", "value": DOI})
    world.pages |= {**crossref(DOI), **unpaywall(DOI, "https://www.nature.com/x.pdf"), "www.nature.com/x.pdf": pdf()}


def test_a_paper_is_fetched_and_kept_by_its_doi(world: World) -> None:
    known(world)

    told = world.call("fetch_paper", ref="pmid:1234567")

    assert (told["ref"], told["pdf"]) == ("pmid:1234567", {"status": "fetched"})
    assert told["path"] == str(world.root / "doi_10.1234_otters.pdf")
    assert told["attempts"][0] == {"source": "ncbi", "outcome": "consulted_resolved", "consulted": True}
    assert [(row["event"], row["source"], row["ref"]) for row in world.rows()] == [
        ("session_start", None, None),
        ("fetch", "ncbi", DOI),
        ("fetch", "crossref", DOI),
        ("fetch", "unpaywall", DOI),
        ("fetch", "oa-publisher", DOI),
        ("store_write", "unpaywall", DOI),
        ("session_end", None, None),
    ]
    assert world.call("info", ref=DOI)["metadata"]["title"] == "How otters swim"


@pytest.mark.parametrize("tool", ["resolve_paper", "metadata_only"])
def test_metadata_are_told_and_kept_by_the_doi(world: World, tool: str) -> None:
    known(world)

    told = world.call(tool, ref="https://pmc.ncbi.nlm.nih.gov/articles/PMC1234567/?report=reader")

    assert (told["source"], told["metadata"]["DOI"]) == ("crossref", DOI)
    assert (world.root / ".metadata" / "doi_10.1234_otters.toml").exists() == (tool == "metadata_only")


def test_a_batch_takes_them_among_others_and_writes_one_pair_of_rows(world: World) -> None:
    known(world)

    told = world.call("batch_fetch", refs=["PMC1234567", DOI])

    assert [(row["ref"], row["ok"]) for row in told["results"]] == [("PMC1234567", True), (DOI, True)]
    assert [row["event"] for row in world.rows()].count("session_start") == 1


@pytest.mark.parametrize(
    ("identifiers", "error", "code"),
    [
        ([], "cannot get document summary", "NOT_FOUND"),
        ([{"idtype": "pubmed", "value": "77"}], "", "NOT_IMPLEMENTED"),
        ([{"idtype": "doi", "value": "10.1002/a|b{c}"}], "", "NOT_IMPLEMENTED"),
    ],
)
def test_an_article_without_a_usable_doi_says_so(
    world: World, identifiers: list[dict[str, str]], error: str, code: str
) -> None:
    ncbi(world, *identifiers, error=error)

    for tool in ("fetch_paper", "resolve_paper", "metadata_only"):
        told = world.call(tool, ref="pmid:1234567")
        assert (told["ref"], told["error"]["code"], told["error"]["disposition"]) == ("pmid:1234567", code, "terminal")
    row = world.call("batch_fetch", refs=["pmid:1234567"])["results"][0]
    assert (row["error"]["code"], row["error"]["denial_context"]) == (code, None)
    failed = [row for row in world.rows() if row["source"] == "ncbi"]
    assert {(row["ref"], row["canonical_digest"], row["error_code"]) for row in failed} == {(None, None, code)}
    assert not world.root.exists()


def test_an_article_that_is_not_there_is_not_asked_for_again_at_once(world: World) -> None:
    ncbi(world, error="cannot get document summary")

    first, again = world.calls(*[("fetch_paper", {"ref": "pmid:1234567"})] * 2)

    assert (first["error"]["code"], again["error"]["code"]) == ("NOT_FOUND", "NOT_FOUND")
    assert again["error"]["replayed"] is True
    assert len(world.asked) == 1
    assert "replayed" not in world.call("fetch_paper", ref="pmid:1234567", force=True)["error"]


def test_what_ncbi_cannot_say_is_a_failure_of_the_network(world: World) -> None:
    world.pages[NCBI] = 500, {}, b"{}"

    told = world.call("fetch_paper", ref="pmid:1234567")

    assert told["error"]["code"] == "NETWORK_ERROR"
    assert world.rows()[-1]["error_code"] == "NETWORK_ERROR"


def test_a_paper_that_is_refused_is_refused_again_by_either_name(world: World) -> None:
    known(world)
    world.pages |= unpaywall(DOI, "https://elsewhere.example.com/x.pdf")

    first, by_doi, again = world.calls(
        ("fetch_paper", {"ref": "pmid:1234567"}), ("fetch_paper", {"ref": DOI}), ("fetch_paper", {"ref": "PMC1234567"})
    )

    assert first["pdf"]["code"] == "CAPABILITY_DENIED"
    assert by_doi["error"]["replayed"] is True
    assert (again["ref"], again["error"]["replayed"]) == ("PMC1234567", True)
    assert world.rows()[-1]["error_code"] == "CAPABILITY_DENIED"


@pytest.mark.parametrize("tool", ["info", "paper_pdf_path"])
def test_entries_are_not_known_by_them(world: World, tool: str) -> None:
    error = world.call(tool, ref="pmid:1234567")["error"]

    assert error["code"] == "INVALID_REF"
    assert "doiget_fetch_paper" in error["message"]
    assert world.asked == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("pmid:123", ("pmid", "123")),
        ("PMID:123", ("pmid", "123")),
        ("pmcid:PMC9", ("pmcid", "PMC9")),
        ("pmc9", ("pmcid", "PMC9")),
        ("https://pubmed.ncbi.nlm.nih.gov/123", ("pmid", "123")),
        ("https://www.ncbi.nlm.nih.gov/pubmed/123/#abstract", ("pmid", "123")),
        ("http://www.ncbi.nlm.nih.gov/pmc/articles/PMC9/pdf/x.pdf", ("pmcid", "PMC9")),
        ("https://pmc.ncbi.nlm.nih.gov/articles/pmc9/", ("pmcid", "PMC9")),
    ],
)
def test_every_form_names_one_number(text: str, named: tuple[str, str]) -> None:
    assert pubmed_number(parse_ref(text)) == named
