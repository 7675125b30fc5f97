"""Papers from loopback publishers into a store: what arrives, what is refused and why, and what is asked of whom."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from specloom.domains.papers import download, limits, provenance_log
from specloom.domains.papers.download import HOSTS
from tests.support.loopback import RESET, Raw
from tests.support.paper_store import NOW, PDF, World, arxiv, as_json, crossref, pdf, unpaywall

if TYPE_CHECKING:
    from tests.support.paper_store import Turns

DOI = "10.1234/otters"
KEY = "doi_10.1234_otters"
PLACE = "https://www.nature.com/otters.pdf"


def known(world: World, *places: str, **more: Any) -> None:
    """The registries know the paper, with open copies at these places."""
    world.pages |= {**crossref(DOI), **unpaywall(DOI, *places, **more)}


def toml(world: World, key: str = KEY) -> dict[str, Any]:
    return tomllib.loads((world.root / ".metadata" / f"{key}.toml").read_text("utf-8"))


def test_an_open_paper_is_resolved_fetched_and_kept(world: World) -> None:
    known(world, PLACE)
    world.pages["www.nature.com/otters.pdf"] = pdf()

    told = world.call("fetch_paper", ref=f"doi:{DOI}")

    assert told == {
        "ok": True,
        "ref": f"doi:{DOI}",
        "source": "unpaywall",
        "resolver_profile": "unpaywall",
        "path": str(world.root / f"{KEY}.pdf"),
        "license": "cc-by",
        "size_bytes": len(PDF),
        "schema_version": "1.0",
        "oa_status": "gold",
        "pdf": {"status": "fetched"},
        "attempts": [
            {"source": "crossref", "outcome": "consulted_resolved", "consulted": True},
            {"source": "unpaywall", "outcome": "consulted_resolved", "consulted": True},
            {"source": "oa-publisher", "outcome": "consulted_resolved", "consulted": True},
        ],
        "title": "How otters swim",
        "authors": ["Ann Otter", "Ben Stream"],
        "year": 2021,
        "metadata_quality": [],
        "repaired_fields": {},
    }
    assert (world.root / f"{KEY}.pdf").read_bytes() == PDF
    assert toml(world)["doiget"] == {
        "fetched_at": "2026-01-01T00:00:00Z",
        "license": "cc-by",
        "oa_status": "gold",
        "size_bytes": len(PDF),
        "source": "unpaywall",
    }


def test_everything_that_was_asked_and_kept_is_in_the_log(world: World) -> None:
    known(world, PLACE)
    world.pages["www.nature.com/otters.pdf"] = pdf()

    world.call("fetch_paper", ref=DOI)

    told = [(row["event"], row["source"], row["result"], row["capability"], row["store_path"]) for row in world.rows()]
    assert told == [
        ("session_start", None, "ok", "oa", None),
        ("fetch", "crossref", "ok", "metadata", None),
        ("fetch", "unpaywall", "ok", "metadata", None),
        ("fetch", "oa-publisher", "ok", "oa", None),
        ("store_write", "unpaywall", "ok", "oa", f"{KEY}.pdf"),
        ("session_end", None, "ok", "oa", None),
    ]
    assert provenance_log.verify(world.log) == provenance_log.ChainVerdict(6)


def test_a_paper_that_is_stored_is_not_asked_for_again(world: World) -> None:
    known(world, PLACE)
    world.pages["www.nature.com/otters.pdf"] = pdf()

    first, second = world.calls(("fetch_paper", {"ref": DOI}), ("fetch_paper", {"ref": DOI}))

    assert second == {**first, "attempts": None}
    assert len(world.asked) == 3


def test_two_calls_at_once_fetch_it_once(world: World) -> None:
    known(world, PLACE)
    world.pages["www.nature.com/otters.pdf"] = pdf()

    told = world.calls(*itertools.repeat(("fetch_paper", {"ref": DOI}), 3), together=True)

    assert [one["pdf"]["status"] for one in told] == ["fetched"] * 3
    assert world.asked.count(PLACE) == 1


def test_redirects_inside_the_list_and_over_a_registry_are_followed(world: World) -> None:
    known(world, "https://doi.org/10.1234/otters")
    world.pages |= {
        "doi.org/10.1234/otters": (302, {"Location": "https://link.springer.com/otters"}, b""),
        "link.springer.com/otters": (303, {"Location": "/content/otters.pdf"}, b""),
        "link.springer.com/content/otters.pdf": pdf(),
    }

    assert world.call("fetch_paper", ref=DOI)["pdf"] == {"status": "fetched"}


def blocked(world: World, **more: Any) -> dict[str, Any]:
    """The leg of a fetch that put no PDF into the store."""
    told = world.call("fetch_paper", ref=DOI, **more)
    assert told["ok"] is True
    assert told["pdf"]["status"] == "blocked"
    assert not list(world.root.glob("*.pdf*"))
    assert told["path"] == str(world.root / ".metadata" / f"{KEY}.toml")
    leg: dict[str, Any] = told["pdf"]
    return leg


@pytest.mark.parametrize(
    ("host", "values"),
    [
        ("papers.otters.example", ["papers.otters.example", "*.otters.example"]),
        ("repo.otters.ac.example.uk", ["repo.otters.ac.example.uk", "*.example.uk"]),
        ("repo.otters.ac.uk", ["repo.otters.ac.uk", "*.otters.ac.uk", "trust_academic_repos"]),
        ("203.0.113.7", ["203.0.113.7"]),
    ],
)
def test_what_would_let_a_host_in_is_told_from_the_narrowest_on(world: World, host: str, values: list[str]) -> None:
    known(world, f"https://{host}/otters.pdf")

    assert [one["value"] for one in world.call("fetch_paper", ref=DOI)["pdf"]["remediation"]] == values


def test_no_setting_is_told_for_a_source_whose_hosts_are_fixed(world: World) -> None:
    """Hosts can be added for open copies alone, so adding one would change nothing here."""
    world.pages |= {
        **arxiv("2401.12345"),
        "arxiv.org/pdf/2401.12345": (302, {"Location": "https://otters.example"}, b""),
    }

    leg = world.call("fetch_paper", ref="2401.12345")["pdf"]

    assert (leg["code"], leg["denial_context"]["attempted"]) == ("CAPABILITY_DENIED", "otters.example")
    assert "remediation" not in leg


@pytest.mark.parametrize(
    ("place", "asked"),
    [
        ("https://www.nature.com/the otters.pdf?a b", "the%20otters.pdf"),
        (" https://www.nature.com/the%20otters.pdf\t", "the%20otters.pdf"),
        ("https://www.nature.com/ötters.pdf", "%C3%B6tters.pdf"),
    ],
)
@pytest.mark.parametrize("is_redirect", [False, True])
def test_signs_of_an_address_are_sent_as_browsers_send_them(
    world: World, place: str, asked: str, is_redirect: bool
) -> None:
    known(world, "https://doi.org/otters" if is_redirect else place)
    as_sent = place.strip().encode().decode("latin-1")
    world.pages |= {"doi.org/otters": (302, {"Location": as_sent}, b""), f"www.nature.com/{asked}": pdf()}

    assert world.call("fetch_paper", ref=DOI)["pdf"] == {"status": "fetched"}


def test_a_host_off_the_list_is_refused_before_it_is_asked(world: World) -> None:
    known(world, "https://papers.elsewhere.example.com/otters.pdf")

    leg = blocked(world)

    assert leg["code"] == "CAPABILITY_DENIED"
    assert leg["disposition"] == "needs_config"
    assert leg["denial_context"] == {
        "reason": "redirect_not_in_allowlist",
        "source": "oa-publisher",
        "attempted": "papers.elsewhere.example.com",
        "expected": list(HOSTS["oa-publisher"]),
    }
    assert [one["value"] for one in leg["remediation"]] == ["papers.elsewhere.example.com", "*.example.com"]
    assert not any("elsewhere" in url for url in world.asked)
    row = next(row for row in world.rows() if row["source"] == "oa-publisher")
    assert (row["result"], row["error_code"]) == ("err", "NETWORK_ERROR")
    assert (world.rows()[-1]["result"], world.rows()[-1]["error_code"]) == ("err", "CAPABILITY_DENIED")


def test_a_redirect_off_the_list_is_refused_at_its_hop(world: World) -> None:
    known(world, PLACE)
    world.pages |= {
        "www.nature.com/otters.pdf": (302, {"Location": "/next"}, b""),
        "www.nature.com/next": (302, {"Location": "https://tracker.example.net/otters.pdf"}, b""),
    }

    leg = blocked(world)

    assert leg["denial_context"]["reason"] == "redirect_not_in_allowlist"
    assert leg["denial_context"]["attempted"] == "tracker.example.net"
    assert leg["denial_context"]["hop_index"] == 1
    assert not any("tracker" in url for url in world.asked)


def test_what_the_operator_lets_in_is_asked_and_what_is_blocked_is_not(world: World) -> None:
    known(world, "https://zenodo.org/otters.pdf")
    world.pages["zenodo.org/otters.pdf"] = pdf()
    assert blocked(world)["remediation"][-1] == {
        "kind": "trust_flag",
        "value": "trust_oa_registries",
        "note": "set DOIGET_TRUST_OA_REGISTRIES=true",
    }

    world.environ = {"DOIGET_TRUST_OA_REGISTRIES": "true", "DOIGET_BLOCKED_HOSTS": "*.zenodo.org"}
    leg = blocked(world, force=True)
    assert leg["code"] == "CAPABILITY_DENIED"
    assert leg["denial_context"] == {
        "reason": "host_in_block_list",
        "source": "oa-publisher",
        "attempted": "zenodo.org",
    }

    world.environ = {"DOIGET_ADDITIONAL_HOSTS": "example.org, *.zenodo.org"}
    assert world.call("fetch_paper", ref=DOI, force=True)["pdf"] == {"status": "fetched"}


@pytest.mark.parametrize("redirected", [False, True])
def test_only_https_is_asked(world: World, redirected: bool) -> None:
    known(world, PLACE if redirected else "http://www.nature.com/otters.pdf")
    world.pages["www.nature.com/otters.pdf"] = (301, {"Location": "http://www.nature.com/other.pdf"}, b"")

    leg = blocked(world)

    assert leg["code"] == "CAPABILITY_DENIED"
    said = {"reason": "insecure_scheme", "source": "oa-publisher", "attempted": "http", "expected": ["https"]}
    assert leg["denial_context"] == (said | {"hop_index": 0} if redirected else said)


def test_a_web_page_that_says_it_is_a_pdf_is_none(world: World) -> None:
    known(world, PLACE)
    world.pages["www.nature.com/otters.pdf"] = 200, {"Content-Type": "application/pdf"}, b"<html>Log in</html>"

    leg = blocked(world)

    assert leg["code"] == "NETWORK_ERROR"
    assert leg["denial_context"] == {
        "reason": "content_type_mismatch",
        "source": "oa-publisher",
        "attempted": b"<html".hex(),
        "expected": ["%PDF-"],
    }


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_that_is_too_long_is_not_read_to_its_end(
    world: World, monkeypatch: pytest.MonkeyPatch, declared: bool
) -> None:
    monkeypatch.setattr(download, "MAX_BYTES", 5000)
    known(world, PLACE)
    world.pages["www.nature.com/otters.pdf"] = pdf(b"%PDF-" + b"x" * 4996) if declared else endless()

    leg = blocked(world)

    assert leg["code"] == "NETWORK_ERROR"
    actual = leg["denial_context"].pop("actual")
    assert leg["denial_context"] == {"reason": "size_cap_exceeded", "source": "oa-publisher", "cap": 5000}
    # What is announced is told as it is; of a body without a length, what had come when it was given up.
    assert actual == 5001 if declared else 5000 < actual < 50_000_000  # of a hundred million
    assert f"sends {actual} bytes or more" in leg["message"]


def endless() -> Any:
    return 200, {}, (b"%PDF-" + b"x" * 1000 for _ in range(100_000))


def test_a_body_of_just_the_cap_is_taken(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "MAX_BYTES", 5000)
    known(world, PLACE)
    world.pages["www.nature.com/otters.pdf"] = pdf(b"%PDF-" + b"x" * 4995)

    assert world.call("fetch_paper", ref=DOI)["size_bytes"] == 5000


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ((404, {}, b""), "NOT_FOUND"),
        ((451, {"Retry-After": "9"}, b""), "NOT_FOUND"),
        ((503, {}, b""), "NETWORK_ERROR"),
        ((200, {}, b""), "NETWORK_ERROR"),
        ((429, {"Retry-After": "9"}, b""), "RATE_LIMITED"),
        (RESET, "NETWORK_ERROR"),
        (Raw([b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n%PDF-1.7 half of it"]), "NETWORK_ERROR"),
    ],
)
def test_what_goes_wrong_at_the_publisher_has_its_code(world: World, reply: Any, code: str) -> None:
    known(world, PLACE)
    world.pages["www.nature.com/otters.pdf"] = reply

    leg = blocked(world)

    assert leg["code"] == code
    assert leg.get("retry_after_ms") == (9000 if code == "RATE_LIMITED" else None)


def test_the_eleventh_redirect_is_not_followed(world: World) -> None:
    known(world, "https://www.nature.com/0")
    for at in range(12):
        world.pages[f"www.nature.com/{at}"] = (302, {"Location": f"/{at + 1}"}, b"")

    leg = blocked(world)

    assert leg["code"] == "NETWORK_ERROR"
    assert leg["message"] == "oa-publisher redirects more than 10 times."
    assert sum(url.startswith("https://www.nature.com/") for url in world.asked) == 11


def test_a_name_that_leads_inside_the_house_is_never_connected_to(world: World) -> None:
    known(world, "https://rebind.nature.com/otters.pdf")
    world.private = ("rebind.nature.com",)

    leg = blocked(world)

    assert leg["code"] == "NETWORK_ERROR"
    assert leg["denial_context"] == {
        "reason": "ssrf_private_address",
        "source": "oa-publisher",
        "attempted": "10.0.0.7:443",
    }


def test_an_answer_that_does_not_come_is_a_timeout(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    known(world, PLACE)

    def stalled() -> Any:
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n%PDF-"
        world.stopped.wait(60)

    world.pages["www.nature.com/otters.pdf"] = lambda _: Raw(stalled())

    assert blocked(world)["code"] == "FETCH_TIMEOUT"


def test_a_host_that_goes_silent_is_left_long_before_a_document_has_to_be_complete(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "SILENCE", 2.0)
    known(world, "https://www.mdpi.com/otters.pdf", PLACE)

    def silent() -> Any:
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n%PDF-"
        world.stopped.wait(60)

    world.pages |= {"www.mdpi.com/otters.pdf": lambda _: Raw(silent()), "www.nature.com/otters.pdf": pdf()}

    told = world.call("fetch_paper", ref=DOI)

    assert told["pdf"] == {"status": "fetched"}
    said = "gave no complete answer within its time: nothing came for 2 seconds."
    assert told["attempts"][2]["detail"].endswith(said)


def test_an_interrupted_download_leaves_nothing_and_the_next_one_succeeds(world: World) -> None:
    known(world, PLACE)
    replies = [Raw([b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n%PDF-1.7 half"]), pdf()]
    world.pages["www.nature.com/otters.pdf"] = lambda _: replies.pop(0)
    assert blocked(world)["disposition"] == "retry_after"

    world.now += 31

    assert world.call("fetch_paper", ref=DOI)["pdf"] == {"status": "fetched"}
    assert (world.root / f"{KEY}.pdf").read_bytes() == PDF


def test_a_copy_that_fails_leads_to_the_next(world: World) -> None:
    known(world, "https://www.mdpi.com/gone.pdf", PLACE)
    world.pages["www.nature.com/otters.pdf"] = pdf()

    told = world.call("fetch_paper", ref=DOI)

    assert told["pdf"] == {"status": "fetched"}
    assert [one["outcome"] for one in told["attempts"][2:]] == ["consulted_failed", "consulted_resolved"]


def test_a_closed_paper_is_kept_without_a_pdf_and_says_so(world: World) -> None:
    known(world, status="closed")

    told = world.call("fetch_paper", ref=DOI)

    assert told["pdf"] == {"status": "no_oa_url"}
    assert told["oa_status"] == "closed"
    assert (told["license"], told["size_bytes"]) == ("unknown", 0)
    assert told["attempts"][-1] == {
        "source": "openalex",
        "outcome": "not_consulted_disabled",
        "consulted": False,
        "required_env": ["DOIGET_ENABLE_OPENALEX"],
        "detail": "DOIGET_ENABLE_OPENALEX",
    }
    assert world.rows()[-1]["error_code"] == "NO_OA_AVAILABLE"


def test_asking_again_for_a_closed_paper_is_answered_without_asking_anybody(world: World) -> None:
    known(world, status="closed")

    first, again = world.calls(("fetch_paper", {"ref": DOI}), ("fetch_paper", {"ref": DOI}))

    assert first["ok"] is True
    assert again["ok"] is False
    assert again["ref"] == DOI
    assert again["error"]["code"] == "NO_OA_AVAILABLE"
    assert again["error"]["disposition"] == "needs_config"
    assert again["error"]["replayed"] is True
    assert "denial_context" not in again["error"]
    assert len(world.asked) == 2


@pytest.mark.parametrize(
    ("ref", "environ", "says"),
    [
        (DOI, {}, "set DOIGET_ENABLE_OPENALEX to ask more of them."),
        (
            "10.1103/otters",
            {},
            "set DOIGET_ENABLE_OPENALEX, or DOIGET_AGREE_TDM_APS and DOIGET_KEY_APS to ask more of them.",
        ),
        (DOI, {"DOIGET_ENABLE_OPENALEX": "1"}, "there are no others to switch on."),
    ],
)
def test_a_closed_paper_says_again_what_could_be_set(
    world: World, ref: str, environ: dict[str, str], says: str
) -> None:
    world.environ = environ
    world.pages |= crossref(ref) | unpaywall(ref, status="closed")

    again = world.calls(("fetch_paper", {"ref": ref}), ("fetch_paper", {"ref": ref}))[1]

    assert again["error"]["message"].endswith(says)


def test_a_refused_paper_is_refused_again_with_its_reason(world: World) -> None:
    known(world, "https://elsewhere.example.com/otters.pdf")
    world.call("fetch_paper", ref=DOI)

    world.now += limits.LASTING - 1
    again = world.call("fetch_paper", ref=DOI)
    assert again["error"]["code"] == "CAPABILITY_DENIED"
    assert again["error"]["denial_context"]["reason"] == "redirect_not_in_allowlist"
    assert again["error"]["remediation"]

    world.now += 1
    assert world.call("fetch_paper", ref=DOI)["pdf"]["status"] == "blocked"


def test_a_failure_that_may_pass_is_waited_for(world: World) -> None:
    known(world, PLACE)
    world.pages["www.nature.com/otters.pdf"] = 503, {}, b""
    world.call("fetch_paper", ref=DOI)
    world.now += 10

    again = world.call("fetch_paper", ref=DOI)

    assert again["error"]["code"] == "RATE_LIMITED"
    assert again["error"]["retry_after_ms"] == 20_000
    assert again["error"]["replayed"] is True


def test_force_keeps_the_pdf_that_is_there_and_what_is_known_of_it(world: World) -> None:
    """What the record lacked is filled, and the log has what was written and nothing else."""
    known(world, PLACE)
    world.pages["www.nature.com/otters.pdf"] = pdf()
    world.call("fetch_paper", ref=DOI)
    world.pages["www.nature.com/otters.pdf"] = pdf(PDF + b"more")
    world.pages |= crossref(DOI, volume="7") | unpaywall(DOI, PLACE, license_="cc0")

    told = world.call("fetch_paper", ref=DOI, force=True)

    assert (told["pdf"], told["size_bytes"], told["license"]) == ({"status": "fetched"}, len(PDF), "cc-by")
    assert (world.root / f"{KEY}.pdf").read_bytes() == PDF
    assert (toml(world)["volume"], toml(world)["doiget"]["size_bytes"]) == ("7", len(PDF))
    written = [(row["store_path"], row["size_bytes"]) for row in world.rows() if row["event"] == "store_write"]
    assert written == [(f"{KEY}.pdf", len(PDF)), (f".metadata/{KEY}.toml", None)]


def test_the_log_names_the_pdf_that_was_written_where_its_usual_name_was_taken(world: World) -> None:
    known(world, PLACE)
    world.pages["www.nature.com/otters.pdf"] = pdf()
    world.root.mkdir(parents=True, exist_ok=True)
    (world.root / f"{KEY}.pdf").write_bytes(b"%PDF-1.7 somebody's own")

    told = world.call("fetch_paper", ref=DOI)

    [written] = [row["store_path"] for row in world.rows() if row["event"] == "store_write"]
    assert (written, Path(told["path"]).name, toml(world)["pdf_path"]) == (f"{KEY}-2.pdf",) * 3
    assert (world.root / written).read_bytes() == PDF


def test_force_asks_again_and_writes_so(world: World) -> None:
    known(world, status="closed")
    world.call("fetch_paper", ref=DOI)

    told = world.call("fetch_paper", ref=DOI, force=True)

    assert told["pdf"] == {"status": "no_oa_url"}
    assert "repeat_forced" in [row["event"] for row in world.rows()]


def test_a_preprint_stands_in_for_a_paper_that_is_blocked(world: World) -> None:
    known(world, "https://elsewhere.example.com/x.pdf", "https://arxiv.org/abs/2001.00001v1")
    world.pages |= {**arxiv("2001.00001v2"), "arxiv.org/pdf/2001.00001v2": pdf()}
    world.pages["arxiv.org/abs/2001.00001v1"] = 200, {}, b"<html>abstract</html>"

    told = world.call("fetch_paper", ref=DOI)

    assert told["source"] == "arxiv"
    assert told["license"] == "arxiv-default"
    assert told["pdf"]["status"] == "preprint_fallback"
    assert told["pdf"]["arxiv_id"] == "2001.00001"
    assert told["pdf"]["found_by"] == "unpaywall"
    assert told["pdf"]["original_block"]["code"] == "CAPABILITY_DENIED"
    assert toml(world)["doi"] == DOI


def test_a_preprint_that_the_registry_names_stands_in_for_a_closed_paper(world: World) -> None:
    relation = {"has-preprint": [{"id-type": "doi", "id": "10.48550/arXiv.2001.00001"}]}
    world.pages |= {**crossref(DOI, relation=relation), **unpaywall(DOI, status="closed"), **arxiv("2001.00001v2")}
    world.pages["arxiv.org/pdf/2001.00001v2"] = pdf()

    told = world.call("fetch_paper", ref=DOI)

    assert told["pdf"] == {
        "status": "preprint_fallback",
        "arxiv_id": "2001.00001",
        "original_block": None,
        "found_by": "crossref",
    }


@pytest.mark.parametrize("places", [(), ("https://elsewhere.example.com/x.pdf",)])
def test_a_preprint_with_a_doi_of_its_own_stands_in(world: World, places: tuple[str, ...]) -> None:
    posted = "10.1101/2020.01.01.1"
    relation = {"has-preprint": [{"id-type": "doi", "id": posted}]}
    world.pages |= {**crossref(DOI, relation=relation), **unpaywall(DOI, *places)}
    world.pages[f"api.unpaywall.org/v2/{posted.replace('/', '%2F')}"] = as_json(
        {
            "doi": posted,
            "journal_name": "bioRxiv",
            "best_oa_location": {"url_for_pdf": "https://www.biorxiv.org/x.pdf", "license": "cc-by-nc"},
        }
    )
    world.pages["www.biorxiv.org/x.pdf"] = pdf()

    told = world.call("fetch_paper", ref=DOI)

    block = told["pdf"].pop("original_block")
    assert (block["code"] if block else None) == ("CAPABILITY_DENIED" if places else None)
    assert told["pdf"] == {
        "status": "preprint_doi_fallback",
        "preprint_doi": posted,
        "platform": "bioRxiv",
        "found_by": "crossref",
    }
    assert (told["license"], toml(world)["doi"]) == ("cc-by-nc", DOI)


def test_a_preprint_that_nobody_has_changes_nothing(world: World) -> None:
    relation = {"has-preprint": [{"id-type": "doi", "id": "10.1101/nothing here"}]}
    world.pages |= {**crossref(DOI, relation=relation), **unpaywall(DOI, status="closed")}

    assert world.call("fetch_paper", ref=DOI)["pdf"] == {"status": "no_oa_url"}


def test_an_arxiv_paper_comes_from_arxiv_alone_and_slowly(world: World, turns: Turns) -> None:
    world.pages |= {**arxiv("2401.12345v1"), "arxiv.org/pdf/2401.12345v1": pdf()}

    told = world.call("fetch_paper", ref="arXiv:2401.12345")

    assert told["pdf"] == {"status": "fetched"}
    assert (told["source"], told["license"], told["oa_status"]) == ("arxiv", "arxiv-default", "green")
    assert toml(world, "arxiv_2401.12345")["arxiv_id"] == "2401.12345"
    assert toml(world, "arxiv_2401.12345")["arxiv_categories"] == ["q-bio.PE"]
    assert world.asked == ["https://export.arxiv.org/api/query", "https://arxiv.org/pdf/2401.12345v1"]
    assert turns.slept == [3.0]


def test_a_preprint_whose_feed_names_no_pdf_is_fetched_from_where_arxiv_documents_it(world: World) -> None:
    status, headers, feed = arxiv("2401.12345v1")["export.arxiv.org/api/query"]
    world.pages["export.arxiv.org/api/query"] = status, headers, re.sub("<link[^>]*>", "", str(feed))
    world.pages["arxiv.org/pdf/2401.12345"] = pdf()

    assert world.call("fetch_paper", ref="2401.12345")["pdf"] == {"status": "fetched"}


def test_a_doi_that_arxiv_registered_is_the_paper_that_it_names(world: World) -> None:
    """Its registry is asked only where it is switched on, and the name says all that is needed."""
    doi = "10.48550/arXiv.2401.12345"
    world.pages |= {**arxiv("2401.12345v1"), "arxiv.org/pdf/2401.12345v1": pdf()}

    told = world.call("fetch_paper", ref=doi)

    assert told["pdf"] == {"status": "fetched"}
    assert (told["source"], told["license"], told["oa_status"]) == ("arxiv", "arxiv-default", "green")
    assert world.asked[-2:] == ["https://export.arxiv.org/api/query", "https://arxiv.org/pdf/2401.12345v1"]
    entry = toml(world, "doi_10.48550_arXiv.2401.12345")
    assert (entry["doi"], entry["arxiv_id"], entry["arxiv_categories"]) == (doi, "2401.12345", ["q-bio.PE"])


def test_a_doi_of_arxiv_whose_pdf_cannot_be_had_is_kept_as_an_open_paper(world: World) -> None:
    world.pages |= arxiv("2401.12345v1")

    told = world.call("fetch_paper", ref="10.48550/arXiv.2401.12345")

    assert (told["pdf"]["status"], told["license"], told["oa_status"]) == ("blocked", "arxiv-default", "green")


def test_with_its_registry_too_it_comes_from_arxiv(world: World) -> None:
    doi = "10.48550/arXiv.2401.12345"
    world.environ = {"DOIGET_ENABLE_DATACITE": "1"}
    record = {"doi": doi.lower(), "titles": [{"title": "Otters early"}], "publicationYear": 2024}
    world.pages |= {
        **arxiv("2401.12345v1"),
        "arxiv.org/pdf/2401.12345v1": pdf(),
        f"api.datacite.org/dois/{doi.replace('/', '%2F')}": as_json(
            {"data": {"id": doi.lower(), "attributes": record}}
        ),
    }

    told = world.call("fetch_paper", ref=doi)

    assert told["pdf"] == {
        "status": "preprint_fallback",
        "arxiv_id": "2401.12345",
        "original_block": None,
        "found_by": "datacite",
    }


def test_a_doi_of_arxiv_without_a_paper_is_not_found(world: World) -> None:
    error = world.call("fetch_paper", ref="10.48550/arXiv.2401.12345")["error"]

    assert (error["code"], error["message"]) == ("NOT_FOUND", "arxiv has no record of 2401.12345.")


def test_arxiv_is_asked_slowly_also_where_an_open_copy_leads_there(world: World, turns: Turns) -> None:
    begun: list[float] = []

    def page(_: Any) -> Any:
        begun.append(turns.now)
        return pdf()

    refs = [f"10.1234/otters.{number}" for number in range(3)]
    for number, ref in enumerate(refs):
        world.pages |= crossref(ref) | unpaywall(ref, f"https://arxiv.org/pdf/2401.1234{number}")
        world.pages[f"arxiv.org/pdf/2401.1234{number}"] = page

    rows = world.call("batch_fetch", refs=refs)["results"]

    assert [row["pdf"]["status"] for row in rows] == ["fetched"] * 3
    assert [round(later - earlier, 3) for earlier, later in itertools.pairwise(begun)] == [3.0, 3.0]


def test_a_paper_that_nobody_knows_is_not_found(world: World) -> None:
    told = world.call("fetch_paper", ref=DOI)

    assert told["ok"] is False
    assert told["error"]["code"] == "NOT_FOUND"
    assert not world.root.exists()


@pytest.mark.parametrize("status", [400, 503])
def test_a_registry_that_fails_is_no_statement_about_the_paper(world: World, status: int) -> None:
    """Nor is it one that the index of open copies does not know the paper, which has those of one agency alone."""
    world.pages[f"api.crossref.org/works/{DOI.replace('/', '%2F')}"] = status, {}, b"{}"

    error = world.call("resolve_paper", ref=DOI)["error"]

    assert (error["code"], error["disposition"]) == ("NETWORK_ERROR", "retry_after")
    assert error["message"].startswith("Crossref ")
    assert world.asked[-1].startswith("https://api.unpaywall.org/")


def test_a_registry_that_rests_says_when_it_is_back(world: World) -> None:
    world.pages[f"api.crossref.org/works/{DOI.replace('/', '%2F')}"] = 503, {"Retry-After": "120"}, b"{}"

    error = world.call("fetch_paper", ref=DOI)["error"]

    assert (error["code"], error["retry_after_ms"]) == ("NETWORK_ERROR", 120_000)


def test_throttling_at_the_registries_is_told_with_its_delay(world: World) -> None:
    reply = 429, {"Retry-After": "7"}, b"{}"
    quoted = DOI.replace("/", "%2F")
    world.pages |= {f"api.crossref.org/works/{quoted}": reply, f"api.unpaywall.org/v2/{quoted}": reply}

    told = world.call("fetch_paper", ref=DOI)

    assert told["error"]["code"] == "RATE_LIMITED"
    assert told["error"]["disposition"] == "retry_after"
    assert told["error"]["retry_after_ms"] == 7000


def test_without_a_log_nothing_is_asked(world: World) -> None:
    known(world, PLACE)
    (world.folder / "log").write_text("in the way", "utf-8")

    for tool in ("fetch_paper", "metadata_only", "resolve_paper"):
        told = world.call(tool, ref=DOI)
        assert told["error"]["code"] == "LOG_ERROR"
        assert told["error"]["disposition"] == "needs_config"

    assert world.asked == []
    assert not world.root.exists()


def test_a_store_that_cannot_be_made_is_told(world: World) -> None:
    known(world, PLACE)
    world.pages["www.nature.com/otters.pdf"] = pdf()
    world.root.write_text("in the way", "utf-8")

    assert world.call("fetch_paper", ref=DOI)["error"]["code"] == "STORE_ERROR"


def test_a_defect_is_told_in_the_envelope(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specloom.domains.papers.procedures.parse_ref", lambda _: 1 / 0)

    told = world.call("fetch_paper", ref=DOI)

    assert told["ok"] is False
    assert told["error"]["code"] == "INTERNAL_ERROR"
    assert told["error"]["disposition"] == "terminal"


# --- batches ------------------------------------------------------------------------------------------------------


def test_a_batch_has_a_row_for_each_in_their_order(world: World) -> None:
    known(world, PLACE)
    world.pages["www.nature.com/otters.pdf"] = pdf()
    world.pages |= {**crossref("10.1234/b"), **unpaywall("10.1234/b", "https://elsewhere.example.com/b.pdf")}

    told = world.call("batch_fetch", refs=["10.1234/nobody", DOI, "10.1234/b", DOI])

    assert [row["ref"] for row in told["results"]] == ["10.1234/nobody", DOI, "10.1234/b", DOI]
    assert [row["ok"] for row in told["results"]] == [False, True, True, True]
    failed = told["results"][0]["error"]
    assert failed["code"] == "NOT_FOUND"
    assert failed["denial_context"] is None
    assert told["results"][1] == told["results"][3]
    assert set(told["results"][1]) == {
        *("ref", "ok", "source", "resolver_profile", "license", "path", "size_bytes", "schema_version"),
        *("oa_status", "pdf"),
    }
    assert told["results"][2]["pdf"]["denial_context"]["attempted"] == "elsewhere.example.com"
    assert [row["event"] for row in world.rows()].count("session_start") == 1
    assert world.rows()[-1]["error_code"] is None


def test_a_batch_of_more_than_a_hundred_is_refused(world: World) -> None:
    told = world.call("batch_fetch", refs=[f"10.1234/{at}" for at in range(101)])

    assert told["error"]["code"] == "INVALID_REF"
    assert told["error"]["message"].startswith("TOO_MANY_REFS: 101 references were given, and 100")
    assert "ref" not in told


def test_one_malformed_reference_refuses_the_whole_batch(world: World) -> None:
    told = world.call("batch_fetch", refs=[DOI, "otters"])

    assert told["error"]["code"] == "INVALID_REF"
    assert "'otters'" in told["error"]["message"]
    assert world.asked == []


def test_a_batch_that_repeats_a_blocked_paper_is_told_so_from_memory(world: World) -> None:
    known(world, "https://elsewhere.example.com/otters.pdf")

    first, second = world.call("batch_fetch", refs=[DOI, DOI])["results"]

    assert first["ok"] is True
    assert second["error"]["code"] == "CAPABILITY_DENIED"
    assert second["error"]["replayed"] is True


def test_no_more_than_five_start_in_any_second(world: World, turns: Turns) -> None:
    refs = [f"10.1234/p{at}" for at in range(12)]
    for ref in refs:
        world.pages |= {**crossref(ref), **unpaywall(ref, status="closed")}

    world.call("batch_fetch", refs=refs)

    assert turns.now >= (24 - 5) / 5


# --- two processes ------------------------------------------------------------------------------------------------

RIVAL = """
import asyncio, sys
from pathlib import Path
from specloom.domains.papers.entries import make_entry
from specloom.domains.text.paper_refs import PaperId
from specloom.domains.papers.store import PaperStore

body = b"%PDF-" + sys.argv[2].encode() * 200_000
entry = make_entry({"title": "T", "authors": [], "doi": "10.1234/otters"}, {"size_bytes": len(body)})
print(asyncio.run(PaperStore(Path(sys.argv[1])).commit(PaperId("doi", "10.1234/otters"), entry, body))[1])
"""


def test_two_processes_write_a_paper_once(tmp_path: Path) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", RIVAL, str(tmp_path), mark], stdout=subprocess.PIPE, text=True)
        for mark in "ab"
    ]

    wrote = sorted(one.communicate(timeout=300)[0].strip() for one in running)

    assert wrote == ["False", "True"]
    body = (tmp_path / f"{KEY}.pdf").read_bytes()
    assert body[5:] in (b"a" * 200_000, b"b" * 200_000)
    assert not list(tmp_path.rglob("*.tmp"))


@pytest.mark.process
def test_the_server_speaks_only_protocol_and_ends_with_its_client(tmp_path: Path) -> None:
    hello = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    asked = [
        (1, "initialize", hello),
        (2, "tools/list", {}),
        (3, "tools/call", {"name": "doiget_health", "arguments": {}}),
        (4, "tools/call", {"name": "doiget_info", "arguments": {"ref": "otters!"}}),
    ]
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": params} for number, method, params in asked
    ]
    messages.insert(1, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    done = subprocess.run(
        [sys.executable, "-m", "specloom", "serve", "--toolset", "papers"],
        input="".join(json.dumps(one) + "\n" for one in messages),
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        check=False,
    )

    said = {one["id"]: one["result"] for one in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 0
    assert all(tool["name"].startswith("doiget_") for tool in said[2]["tools"])
    assert said[3]["structuredContent"]["ok"] is True
    assert said[4]["structuredContent"]["error"]["code"] == "INVALID_REF"
    assert "isError" not in said[4]
    assert not (tmp_path / "papers").exists()


def test_the_clock_of_these_tests_is_the_first_of_january() -> None:
    assert provenance_log.to_timestamp(NOW) == "2026-01-01T00:00:00Z"
