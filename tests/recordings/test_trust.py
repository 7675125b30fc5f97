"""Citations verified against recorded answers of the registries, through the tool that checks them."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Mapping
from typing import Any

import pytest
import trust_replay

from specloom.core.faults import Fault
from specloom.core.messages import Request, Response
from tests.support.recordings import recorded
from tests.support.shipped import shipped_model


class Recorded(trust_replay.World):
    """A world that answers with one recording at one host, and elsewhere with nothing."""

    def __init__(self, host: str, body: bytes, status: int = 200) -> None:
        super().__init__()
        self.host, self.body, self.status = host, body, status

    def respond(self, request: Request) -> Response | Fault:
        if request.url.split("/")[2] == self.host:
            return Response(self.status, {"content-type": "application/json"}, self.body, request.url)
        return super().respond(request)


def verify(citation: str, host: str, name: str, **more: Any) -> dict[str, Any]:
    asked = (*trust_replay.ASKED, "openalex") if host == "api.openalex.org" else trust_replay.ASKED
    arguments = {"citation": citation, **more}
    world = Recorded(host, recorded(name))
    return asyncio.run(trust_replay.call(shipped_model(), "verify_citation", arguments, world, asked))


@pytest.mark.parametrize(
    ("citation", "name", "record"),
    [
        (
            "Sinop, A. K., & Grady, L. (2007). A seeded image segmentation framework unifying graph cuts and random "
            "walker which yields a new algorithm. doi:10.1109/ICCV.2007.4408927",
            "work-proceedings-article",
            {
                "year": 2007,
                "journal": "2007 IEEE 11th International Conference on Computer Vision",
                "authors": ["Ali Kemal Sinop", "Leo Grady"],
                "url": "http://ieeexplore.ieee.org/document/4408927/",
            },
        ),
        (
            "Joyce LR, Manzer HS. Identification of a novel cationic glycolipid in Streptococcus agalactiae that "
            "contributes to brain entry and meningitis. bioRxiv 2020. https://doi.org/10.1101/2020.12.01.406702",
            "work-posted-content-preprint",
            {"year": 2020, "journal": "bioRxiv", "publisher": "openRxiv"},
        ),
        (
            "Sadasivan, S. et al. Methylphenidate Exposure Induces Dopamine Neuron Loss and Activation of Microglia in "
            "the Basal Ganglia of Mice. PLoS ONE (2012). https://doi.org/10.1371/journal.pone.0033693",
            "work-journal-article-updated-by-correction",
            {"year": 2012, "journal": "PLoS ONE"},
        ),
    ],
)
def test_works_of_crossref_are_confirmed_with_their_titles(citation: str, name: str, record: Mapping[str, Any]) -> None:
    said = verify(citation, "api.crossref.org", f"crossref/{name}.json")

    assert (said["exists"], said["verificationStatus"], said["titleMatch"]) == (True, "confirmed", "match")
    assert {key: said["matchedRecord"][key] for key in record} == record
    assert "mismatch" not in {one["verdict"] for one in said["comparison"]}


def test_a_correction_that_crossref_lists_is_told_and_is_no_retraction() -> None:
    name = "crossref/work-journal-article-updated-by-correction.json"

    said = verify("10.1371/journal.pone.0033693", "api.crossref.org", name)

    assert said["retractionStatus"] == {
        "retracted": False,
        "kind": "correction",
        "date": "2012-05-08",
        "noticeDoi": "10.1371/annotation/c76da2c1-ccb8-4797-94c1-359d3ceceeda",
        "source": "publisher",
    }


def test_a_new_version_of_a_work_is_no_notice() -> None:
    said = verify("10.1371/journal.ppat.1008184", "api.crossref.org", "crossref/work-update-to-and-updated-by.json")

    assert said["exists"] is True
    assert "retractionStatus" not in said


def test_the_title_of_another_work_beside_a_recorded_doi_is_a_mismatch() -> None:
    citation = "Highly accurate protein structure prediction with AlphaFold. doi:10.1109/iccv.2007.4408927"

    said = verify(citation, "api.crossref.org", "crossref/work-proceedings-article.json")

    assert (said["exists"], said["titleMatch"]) == (True, "mismatch")


def test_the_record_of_another_doi_is_never_shown() -> None:
    said = verify("10.1109/iccv.2007.4408928", "api.crossref.org", "crossref/work-proceedings-article.json")

    assert (said["exists"], said["verificationStatus"]) == (False, "not_found")
    assert "matchedRecord" not in said


@pytest.mark.parametrize(
    ("citation", "name", "record"),
    [
        (
            "arXiv:2311.16162",
            "doi-arxiv-preprint",
            {"journal": "arXiv", "year": 2023, "type": "Preprint", "url": "https://arxiv.org/abs/2311.16162"},
        ),
        (
            "Data from: A new malaria agent in African hominids. doi:10.5061/dryad.8515",
            "doi-dataset-dryad",
            {"journal": "Dryad", "year": 2011, "type": "Dataset"},
        ),
        (
            "https://doi.org/10.5281/zenodo.48440",
            "doi-zenodo-multiple-identifiers",
            {"journal": "Zenodo", "authors": ["Kristian Garza"], "type": "Software"},
        ),
    ],
)
def test_works_of_datacite_are_confirmed(citation: str, name: str, record: Mapping[str, Any]) -> None:
    said = verify(citation, "api.datacite.org", f"datacite/{name}.json")

    assert (said["exists"], said["verificationStatus"]) == (True, "confirmed")
    assert {key: said["matchedRecord"][key] for key in record} == record
    assert said["titleMatch"] in {"match", "not_checked"}


@pytest.mark.parametrize(
    ("citation", "name", "journal"),
    [
        (
            "Ralser, M., Heeren, G., & Breitenbach, M. (2006). Triose phosphate isomerase deficiency is caused by "
            "altered dimerization - not catalytic inactivity - of the mutant enzymes. doi:10.1371/journal.pone.0000030",
            "work-journal-article",
            "PLoS ONE",
        ),
        ("10.7554/eLife.01567", "work-article-elife", "eLife"),
        ("10.1101/097196", "work-preprint", "bioRxiv (Cold Spring Harbor Laboratory)"),
    ],
)
def test_works_that_only_openalex_has_are_confirmed_without_a_word_about_notices(
    citation: str, name: str, journal: str
) -> None:
    said = verify(citation, "api.openalex.org", f"openalex/{name}.json")

    assert (said["exists"], said["verificationStatus"]) == (True, "confirmed")
    assert said["matchedRecord"]["journal"] == journal
    assert said["matchedRecord"]["source"] == "openalex"
    assert "retraction: openalex does not list notices, so nothing is known" in said["provenance"]


def audit(entries: list[dict[str, str]], host: str, body: bytes) -> list[dict[str, Any]]:
    """What the audit says of each entry, where one registry has one answer and the others have nothing."""
    asked = (*trust_replay.ASKED, "openalex") if host == "api.openalex.org" else trust_replay.ASKED
    said = asyncio.run(
        trust_replay.call(shipped_model(), "audit_bibliography", {"entries": entries}, Recorded(host, body), asked)
    )
    found: list[dict[str, Any]] = said["entries"]
    return found


def as_list(body: bytes, host: str) -> bytes:
    """A recorded work as the answer to a question for several works, which the same service wraps otherwise."""
    record = json.loads(body)
    if host == "api.crossref.org":
        return json.dumps({"message": {"total-results": 1, "items": [record["message"]]}}).encode()
    if host == "api.datacite.org":
        return json.dumps({"data": [record["data"]]}).encode()
    return json.dumps({"meta": {"count": 1}, "results": [record]}).encode()


# host, recording, and the fields that the registry has of the work
WORKS = [
    (
        "api.crossref.org",
        "crossref/work-journal-article-updated-by-correction.json",
        {
            "doi": "10.1371/journal.pone.0033693",
            "title": "Methylphenidate Exposure Induces Dopamine Neuron Loss and Activation of Microglia in the Basal "
            "Ganglia of Mice",
            "author": "Sadasivan, Shankar; Pond, Brooks B.",
            "date": "2012",
            "site": "PLoS ONE",
        },
    ),
    (
        "api.crossref.org",
        "crossref/work-proceedings-article.json",
        {
            "doi": "10.1109/iccv.2007.4408927",
            "title": "A Seeded Image Segmentation Framework Unifying Graph Cuts And Random Walker Which Yields A New "
            "Algorithm",
            "author": "Sinop, Ali Kemal; Grady, Leo",
            "date": "2007",
            "site": "2007 IEEE 11th International Conference on Computer Vision",
        },
    ),
    (
        "api.datacite.org",
        "datacite/doi-arxiv-preprint.json",
        {
            "doi": "10.48550/arxiv.2311.16162",
            "title": "Leveraging Artificial Intelligence Technology for Mapping Research to Sustainable Development "
            "Goals: A Case Study",
            "author": "Yin, Hui; Aryani, Amir",
            "date": "2023",
            "site": "arXiv",
        },
    ),
    (
        "api.openalex.org",
        "openalex/work-journal-article.json",
        {
            "doi": "10.1371/journal.pone.0000030",
            "title": "Triose Phosphate Isomerase Deficiency Is Caused by Altered Dimerization–Not Catalytic "
            "Inactivity–of the Mutant Enzymes",
            "author": "Ralser, Markus; Heeren, Gino",
            "date": "2006",
            "site": "PLoS ONE",
        },
    ),
]
OTHER = {
    "title": "Attention is all you need for machine translation",
    "author": "Vaswani, Ashish; Shazeer, Noam",
    "date": "1931",
    "site": "Annals of Medieval Philosophy",
}
FIELDS = {"title": "title", "author": "authors", "date": "year", "site": "venue"}


@pytest.mark.parametrize(("host", "name", "fields"), WORKS)
def test_title_authors_year_and_venue_are_those_of_the_record(host: str, name: str, fields: dict[str, str]) -> None:
    [entry] = audit([fields], host, as_list(recorded(name), host))

    assert (entry["exists"], entry["flags"], entry["titleMatch"]) == (True, [], "match")
    verdicts = {one["field"]: one["verdict"] for one in entry["comparison"]}
    # A preprint server only keeps a work, so its name is no venue that could be another.
    assert {**verdicts, "venue": "match"} == dict.fromkeys(FIELDS.values(), "match")
    shown = {one["field"]: one["recorded"] for one in entry["comparison"]}
    assert shown["title"] == fields["title"] == entry["matchedTitle"]
    assert shown["authors"].startswith(fields["author"].partition(";")[0])
    assert fields["date"] in shown["year"].split(", ")
    assert fields["site"] in shown["venue"]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(("host", "name", "fields"), WORKS)
def test_one_wrong_field_is_told_and_the_others_are_not(
    host: str, name: str, fields: dict[str, str], field: str
) -> None:
    [entry] = audit([fields | {field: OTHER[field]}], host, as_list(recorded(name), host))

    assert entry["exists"] is True
    wrong = {one["field"] for one in entry["comparison"] if one["verdict"] == "mismatch"}
    # A journal known by its initials, a conference and a keeper of preprints may be named in other words.
    kept = field == "site"
    assert wrong == (set() if kept else {FIELDS[field]})


def test_a_list_of_crossref_confirms_every_work_of_it() -> None:
    body = recorded("crossref/works-filter-prefix-type-rows20.json")
    items = json.loads(body)["message"]["items"]
    entries = [
        {
            "doi": item["DOI"],
            "title": item["title"][0],
            "author": "; ".join(f"{one['family']}, {one.get('given', '')}" for one in item.get("author", ())),
            "date": str(item["issued"]["date-parts"][0][0]),
            "site": item["container-title"][0],
        }
        for item in items
    ]

    told = audit(entries, "api.crossref.org", body)

    assert [entry["exists"] for entry in told] == [True] * 20
    assert [entry["flags"] for entry in told] == [[]] * 20
    assert {entry["titleMatch"] for entry in told} == {"match"}
    assert {one["verdict"] for entry in told for one in entry["comparison"]} == {"match"}


def test_the_record_of_a_retraction_is_told_and_flagged() -> None:
    """The recorded notice of a correction with the type of a retraction in its place, for want of a recorded one."""
    record = json.loads(recorded("crossref/work-journal-article-updated-by-correction.json"))
    for notice in record["message"]["updated-by"]:
        notice["type"] = "retraction"
    body = json.dumps({"message": {"items": [record["message"]]}}).encode()

    [entry] = audit([{"doi": "10.1371/journal.pone.0033693"}], "api.crossref.org", body)

    assert entry["flags"] == ["retracted"]
    assert entry["reason"] == "the work was retracted on 2012-05-08"
    assert entry["retractionStatus"]["noticeDoi"] == "10.1371/annotation/c76da2c1-ccb8-4797-94c1-359d3ceceeda"


def test_what_crossref_does_not_have_is_not_there_when_no_agency_has_it() -> None:
    world = Recorded("api.crossref.org", recorded("crossref/error-404-work.txt"), status=404)

    said = asyncio.run(
        trust_replay.call(shipped_model(), "verify_citation", {"citation": "10.1371/notarealdoi"}, world)
    )

    assert (said["exists"], said["verificationStatus"]) == (False, "not_found")
    assert said["statusReason"] == "10.1371/notarealdoi is not registered with any agency"


def test_an_article_of_pubmed_is_confirmed_by_its_number() -> None:
    world = Recorded("www.ebi.ac.uk", recorded("europepmc/search-by-pmid.json"))
    asked = (*trust_replay.ASKED, "europepmc")
    citation = (
        "Lee MS, Green R. Comprehensive analysis of missense variations in the BRCT domain of BRCA1 by structural and "
        "functional assays. Cancer Res. 2010. PMID: 20516115"
    )

    said = asyncio.run(trust_replay.call(shipped_model(), "verify_citation", {"citation": citation}, world, asked))

    assert (said["exists"], said["identifier"]) == (True, {"kind": "pmid", "value": "20516115"})
    verdicts = {one["field"]: one["verdict"] for one in said["comparison"]}
    assert verdicts == {"title": "match", "authors": "match", "year": "match", "venue": "match"}
    assert said["matchedRecord"]["doi"] == "10.1158/0008-5472.can-09-4563"
    assert said["matchedRecord"]["journal"] == "Cancer Res"


def test_every_retracted_paper_of_a_sample_is_told_and_flagged() -> None:
    text = recorded("retraction-watch/retraction-watch-sample.csv").decode("utf-8", "replace")
    rows = [
        row
        for row in csv.DictReader(io.StringIO(text))
        if row["OriginalPaperDOI"].lower().startswith("10.") and row["RetractionNature"] == "Retraction"
    ]
    records = {
        row["OriginalPaperDOI"].lower(): {
            "title": row["Title"],
            "authors": [name.rpartition(" ")[::-2] for name in row["Author"].split(";")],
            "updates": [{"type": "retraction", "year": 2023}],
        }
        for row in rows
    }
    world = trust_replay.World(crossref=records)
    entries = [{"doi": doi, "title": record["title"]} for doi, record in list(records.items())[:200]]

    said = asyncio.run(trust_replay.call(shipped_model(), "audit_bibliography", {"entries": entries}, world))

    assert entries
    assert said["summary"]["retracted"] == len(entries)
    assert {entry["titleMatch"] for entry in said["entries"]} == {"match"}, json.dumps(said["entries"][:3])
