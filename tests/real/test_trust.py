"""Citations verified against recorded answers of the registries, through the tool that checks them."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from specloom.faults import Fault
from specloom.wire import Request, Response

from .support import recorded, shipped_model

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import trust_replay


class Recorded(trust_replay.World):
    """A world that answers with one recording at one host, and elsewhere with nothing."""

    def __init__(self, host: str, body: bytes) -> None:
        super().__init__()
        self.host, self.body = host, body

    def respond(self, request: Request) -> Response | Fault:
        if request.url.split("/")[2] == self.host:
            return Response(200, {"content-type": "application/json"}, self.body, request.url)
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
