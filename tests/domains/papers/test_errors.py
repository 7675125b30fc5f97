"""Every error code and every reason of a denial as an MCP client is told them: a row of the table drives each."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from jsonschema import Draft7Validator
from mcp import Client

from specloom.core.faults import Fault
from specloom.domains.papers import download, limits
from specloom.domains.papers.errors import CODES, POLICY, to_paper_fault
from specloom.server.backend import ExecutorBackend
from specloom.server.catalogue import Selection, make_catalogue
from specloom.server.sdk_host import Host
from specloom.storage import files
from tests.support.loopback import RESET, Loopback, Raw
from tests.support.paper_store import Rerouted, World, as_json, crossref, model, pdf, unpaywall

DOI = "10.1234/otters"
KEY = "doi_10.1234_otters"
PLACE = "www.nature.com/otters.pdf"
REGISTRIES = [f"{place}/{DOI.replace('/', '%2F')}" for place in ("api.crossref.org/works", "api.unpaywall.org/v2")]
ELSEWHERE = "papers.elsewhere.example.com"

CONTEXT = {
    "reason": str,
    "source": str,
    "attempted": str,
    "expected": list,
    "hop_index": int,
    "cap": int,
    "actual": int,
}
"""The closed keys of a `denial_context`."""

ERROR = {
    *("code", "message", "disposition"),
    *("denial_context", "remediation", "retry_after_ms", "replayed"),
}
"""The closed keys of an `error`."""

REASONS = {
    *("redirect_not_in_allowlist", "insecure_scheme", "host_in_block_list", "size_cap_exceeded", "schema_drift"),
    *("capability_not_granted", "rate_limit_window", "ssrf_private_address", "content_type_mismatch"),
}
"""Every reason of a `denial_context`."""

Arrange = Callable[[World, pytest.MonkeyPatch], Any]


async def tell(world: World, url: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What one call tells a client of the official SDK."""
    sender = Rerouted(url, world.private)
    executor = world.engine(sender)
    backend = ExecutorBackend(executor)
    catalogue = make_catalogue(model(), Selection(["papers"]), world.environ)
    try:
        async with Client(Host(catalogue, lambda: backend).server()) as client:
            result = await client.call_tool(f"doiget_{tool}", arguments)
    finally:
        world.asked += sender.asked
        await executor.aclose()
    assert not result.is_error, "a failure is an answer of the tool, never an error of the protocol"
    told: dict[str, Any] = result.structured_content
    text = result.content[0].text
    if told["ok"] is False:
        error = told["error"]
        assert f"{error['code']} ({error['disposition']}): {' '.join(error['message'].split())}" in text
        assert ("What the user could set:" in text) == ("remediation" in error)
        assert ("told from memory" in text) == ("replayed" in error)
    return told


def ask(world: World, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    with Loopback(world._answer) as server:
        world.stopped = server.stopped
        return asyncio.run(tell(world, server.url, tool, arguments))


@dataclass(frozen=True, slots=True)
class Case:
    """A call that ends in a code, and for a denial in a reason; `at` says where in the answer the error stands."""

    name: str
    tool: str
    arguments: dict[str, Any]
    code: str
    reason: str = ""
    at: str = "error"
    arrange: Arrange = field(default=lambda world, patch: None)
    context: dict[str, Any] = field(default_factory=dict)

    def error(self, told: dict[str, Any]) -> dict[str, Any]:
        """The error that was told, as `error` or as the blocked leg of a fetch."""
        said = told[self.at] if self.at != "row" else told["results"][0]["error"]
        return {key: value for key, value in said.items() if key in ERROR}


# --- how each comes about -----------------------------------------------------------------------------------------


def known(*places: str) -> Arrange:
    """The registries know the paper, with open copies at these places."""

    def arrange(world: World, patch: pytest.MonkeyPatch) -> None:
        world.pages |= {**crossref(DOI), **unpaywall(DOI, *places, status="gold" if places else "closed")}

    return arrange


def sends(reply: Any, place: str = PLACE) -> Arrange:
    """The publisher answers so."""

    def arrange(world: World, patch: pytest.MonkeyPatch) -> None:
        known(f"https://{place}")(world, patch)
        world.pages[place] = reply

    return arrange


def closed_before(world: World, patch: pytest.MonkeyPatch) -> None:
    known()(world, patch)
    assert ask(world, "fetch_paper", {"ref": DOI})["pdf"] == {"status": "no_oa_url"}


def throttled(world: World, patch: pytest.MonkeyPatch) -> None:
    world.pages |= dict.fromkeys(REGISTRIES, (429, {"Retry-After": "7"}, b"{}"))


def crowded(world: World, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(limits, "QUEUE", -limits.AT_ONCE)


def unreachable(world: World, patch: pytest.MonkeyPatch) -> None:
    world.pages |= dict.fromkeys(REGISTRIES, RESET)


def two_authors(world: World, patch: pytest.MonkeyPatch) -> None:
    authors = [{"id": f"https://openalex.org/A{at}", "display_name": f"A{at} Otter", "works_count": 5} for at in (1, 2)]
    world.pages["api.openalex.org/authors"] = as_json({"results": authors})


def log_in_the_way(world: World, patch: pytest.MonkeyPatch) -> None:
    known()(world, patch)
    (world.folder / "log").write_text("in the way", "utf-8")


def stalling(world: World, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(download, "TIMEOUT", 0.2)

    def stalled() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 90000\r\n\r\n%PDF-"
        world.stopped.wait(60)

    sends(lambda _: Raw(stalled()))(world, patch)


def stored(world: World, patch: pytest.MonkeyPatch) -> None:
    known()(world, patch)
    assert ask(world, "metadata_only", {"ref": DOI})["ok"] is True


def newer(world: World, patch: pytest.MonkeyPatch) -> None:
    stored(world, patch)
    path = world.root / ".metadata" / f"{KEY}.toml"
    path.write_text(path.read_text("utf-8").replace('"1.0"', '"1.3"'), "utf-8")


@contextlib.contextmanager
def kept_lock(world: World) -> Iterator[None]:
    """The lock of the entry is in other hands."""
    with files.FileLock(world.root / ".metadata" / f"{KEY}.toml.lock"):
        yield


def locked(world: World, patch: pytest.MonkeyPatch) -> Any:
    stored(world, patch)
    patch.setattr(files, "POLL", 0.001)
    patch.setattr(files, "WAIT", 0.003)
    return kept_lock(world)


def defective(world: World, patch: pytest.MonkeyPatch) -> None:
    patch.setattr("specloom.domains.papers.procedures.parse_ref", lambda _: 1 / 0)


def software(world: World, patch: pytest.MonkeyPatch) -> None:
    (world.folder / "refs.bib").write_text("@software{tool, title = {A tool}}", "utf-8")


def without_prose(world: World, patch: pytest.MonkeyPatch) -> None:
    page = "<html><body><article class='ltx_document'><h1 class='ltx_title'>Otters</h1></article></body></html>"
    world.pages["ar5iv.labs.arxiv.org/html/2401.12345"] = 200, {"Content-Type": "text/html"}, page.encode()


def too_long(world: World, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(download, "MAX_BYTES", 5000)
    sends(pdf(b"%PDF-" + b"x" * 4996))(world, patch)


def inside(world: World, patch: pytest.MonkeyPatch) -> None:
    known("https://rebind.nature.com/otters.pdf")(world, patch)
    world.private = ("rebind.nature.com",)


def listed_as_blocked(world: World, patch: pytest.MonkeyPatch) -> None:
    known(f"https://{PLACE}")(world, patch)
    world.environ = {"DOIGET_BLOCKED_HOSTS": "*.nature.com"}


FETCH: dict[str, Any] = {"tool": "fetch_paper", "arguments": {"ref": DOI}}
LEG: dict[str, Any] = {**FETCH, "at": "pdf"}

CASES = [
    Case("no reference", "info", {"ref": "otters!"}, "INVALID_REF"),
    Case("closed, and asked again", **FETCH, code="NO_OA_AVAILABLE", arrange=closed_before),
    Case("throttled", **FETCH, code="RATE_LIMITED", arrange=throttled),
    Case(
        "a full queue", "link", {"ref": DOI}, "RATE_LIMITED", "rate_limit_window", arrange=crowded,
        context={"source": "openalex", "cap": -limits.AT_ONCE},
    ),
    Case("nobody answers", "resolve_paper", {"ref": DOI}, "NETWORK_ERROR", arrange=unreachable),
    Case("nobody knows it", "metadata_only", {"ref": DOI}, "NOT_FOUND"),
    Case("a name of two", "paper_search", {"query": "x", "author": "Otter"}, "AMBIGUOUS", arrange=two_authors),
    Case("never fetched", "tag", {"ref": DOI, "add": ["x"]}, "STORE_ERROR"),
    Case("no log", **FETCH, code="LOG_ERROR", arrange=log_in_the_way),
    Case(
        "not switched on", "expand_citation_graph", {"ref": DOI}, "CAPABILITY_DENIED", "capability_not_granted",
        context={"source": "openalex"},
    ),
    Case("a publisher that stalls", **LEG, code="FETCH_TIMEOUT", arrange=stalling),
    Case(
        "a newer entry", "annotate", {"ref": DOI, "text": "x"}, "SCHEMA_TOO_NEW", "schema_drift", arrange=newer,
        context={"cap": 0, "actual": 3},
    ),
    Case("a lock in other hands", "tag", {"ref": DOI, "add": ["x"]}, "LOCK_TIMEOUT", arrange=locked),
    Case("a defect", **FETCH, code="INTERNAL_ERROR", arrange=defective),
    Case("a program", "batch_from_bibliography", {"path": "refs.bib"}, "NOT_IMPLEMENTED", at="row", arrange=software),
    Case("a text without prose", "paper_text", {"ref": "2401.12345"}, "TEXT_UNAVAILABLE", arrange=without_prose),
    Case(
        "a host off the list", **LEG, code="CAPABILITY_DENIED", reason="redirect_not_in_allowlist",
        arrange=known(f"https://{ELSEWHERE}/x.pdf"), context={"source": "oa-publisher", "attempted": ELSEWHERE},
    ),
    Case(
        "a redirect off the list", **LEG, code="CAPABILITY_DENIED", reason="redirect_not_in_allowlist",
        arrange=sends((302, {"Location": f"https://{ELSEWHERE}/x.pdf"}, b"")),
        context={"source": "oa-publisher", "attempted": ELSEWHERE, "hop_index": 0},
    ),
    Case(
        "plain http", **LEG, code="CAPABILITY_DENIED", reason="insecure_scheme", arrange=known(f"http://{PLACE}"),
        context={"attempted": "http", "expected": ["https"]},
    ),
    Case(
        "a blocked host", **LEG, code="CAPABILITY_DENIED", reason="host_in_block_list", arrange=listed_as_blocked,
        context={"attempted": "www.nature.com"},
    ),
    Case(
        "a document that is too long", **LEG, code="NETWORK_ERROR", reason="size_cap_exceeded", arrange=too_long,
        context={"cap": 5000},
    ),
    Case(
        "a page instead of a document", **LEG, code="NETWORK_ERROR", reason="content_type_mismatch",
        arrange=sends((200, {"Content-Type": "application/pdf"}, b"<html>Log in")),
        context={"attempted": b"<html".hex(), "expected": ["%PDF-"]},
    ),
    Case(
        "a private address", **LEG, code="NETWORK_ERROR", reason="ssrf_private_address", arrange=inside,
        context={"attempted": "10.0.0.7:443"},
    ),
    Case("a document that is gone", **LEG, code="NOT_FOUND", arrange=sends((410, {}, b""))),
    Case("a publisher that is throttled", **LEG, code="RATE_LIMITED", arrange=sends((429, {"Retry-After": "9"}, b""))),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_client_is_told_the_code_and_the_reason(world: World, monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    arguments = dict(case.arguments)
    if "path" in arguments:
        arguments["path"] = str(world.folder / arguments["path"])
    held = case.arrange(world, monkeypatch)

    with held or contextlib.nullcontext():
        told = ask(world, case.tool, arguments)

    Draft7Validator(model().tools[f"doiget_{case.tool}"].output_schema).validate(told)
    error = case.error(told)
    assert set(error) <= ERROR
    assert error["code"] == case.code
    assert error["disposition"] == CODES[case.code][1]
    assert told["ok"] is (case.at != "error")
    context = error.get("denial_context")
    assert (context or {}).get("reason", "") == case.reason
    if case.at != "row":
        assert context is not None or "denial_context" not in error, "null is for rows of batches"
    if context:
        assert {key: context[key] for key in case.context} == case.context
        assert all(type(value) is CONTEXT[key] for key, value in context.items())
        assert "remediation" not in error or context["reason"] in POLICY
        told_too = [value for key, value in context.items() if key not in {"reason", "expected"}]
        for value in (*told_too, *context.get("expected", ())):
            assert str(value) in error["message"], f"the sentence leaves out {value!r}"


def test_the_table_has_every_code_and_every_reason() -> None:
    assert {case.code for case in CASES} == set(CODES)
    assert {case.reason for case in CASES} - {""} == REASONS


async def test_a_client_that_asks_for_the_toolset_is_shown_all_its_tools_and_no_other(world: World) -> None:
    executor = world.engine(Rerouted("http://127.0.0.1:9"))
    backend = ExecutorBackend(executor)
    catalogue = make_catalogue(model(), Selection(["papers"]), {})
    try:
        async with Client(Host(catalogue, lambda: backend).server()) as client:
            listed = await client.list_tools()
    finally:
        await executor.aclose()

    assert len(listed.tools) == 22
    assert all(tool.name.startswith("doiget_") for tool in listed.tools)
    assert all(tool.input_schema["additionalProperties"] is False for tool in listed.tools)
    assert all(tool.output_schema and tool.annotations for tool in listed.tools)


def test_a_row_of_a_batch_has_the_context_of_its_denial_or_null(world: World) -> None:
    blocked = "10.1234/blocked"
    world.pages |= {**crossref(blocked), **unpaywall(blocked, f"https://{ELSEWHERE}/x.pdf")}

    rows = ask(world, "batch_fetch", {"refs": ["10.1234/nobody", blocked, blocked]})["results"]

    assert rows[0]["error"]["denial_context"] is None
    assert rows[1]["pdf"]["denial_context"]["reason"] == "redirect_not_in_allowlist"
    assert rows[2]["error"]["denial_context"] == rows[1]["pdf"]["denial_context"]
    assert rows[2]["error"]["remediation"] == rows[1]["pdf"]["remediation"]


@pytest.mark.parametrize(("said", "told"), [(None, None), (60, 60_000), (0, 0)])
def test_a_delay_is_told_where_the_upstream_named_one_also_if_it_is_the_usual_one(
    said: int | None, told: int | None
) -> None:
    assert to_paper_fault(Fault("rate_limited", "slow down", retry_after=said)).retry_after_ms == told
