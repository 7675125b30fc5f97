"""The paper tools from the command line: what a call prints and exits with, and the log that can be verified."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

import specloom.server as server_room
from specloom.cli.main import main
from specloom.domains.papers.provenance_log import ProvenanceLog
from tests.support.loopback import Loopback
from tests.support.paper_store import PDF, Rerouted, World, crossref, pdf, unpaywall

DOI = "10.1234/otters"
PLACE = "www.nature.com/otters.pdf"
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command with the upstreams of the world: exit code, standard output, standard error."""
    monkeypatch.setenv("DOIGET_STORE_ROOT", str(world.root))
    monkeypatch.setenv("DOIGET_LOG_PATH", str(world.log))

    def run(*words: str) -> tuple[int, str, str]:
        with Loopback(world._answer) as server:
            monkeypatch.setattr(server_room, "make_executor", lambda *_, **__: world.engine(Rerouted(server.url)))
            code = main(list(words))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_a_paper_is_fetched_and_found_again(world: World, command: Command) -> None:
    world.pages |= crossref(DOI) | unpaywall(DOI, f"https://{PLACE}") | {PLACE: pdf()}

    code, out, err = command("call", "doiget_fetch_paper", f"ref={DOI}", "--raw")

    assert (code, err) == (0, "")
    assert json.loads(out)["pdf"] == {"status": "fetched"}
    assert (world.root / "doi_10.1234_otters.pdf").read_bytes() == PDF
    code, out, _ = command("call", "doiget_bibtex_export", f"refs={DOI}", "--raw")
    assert json.loads(out)["entries"][0]["bibtex"].startswith("@article{doi_10.1234_otters,\n")


def test_a_failure_is_the_answer_and_its_kind_the_exit_code(world: World, command: Command) -> None:
    def fails(tool: str, *words: str) -> tuple[int, str]:
        code, out, err = command("call", f"doiget_{tool}", *words, "--raw")
        assert err == ""
        return code, json.loads(out)["error"]["code"]

    assert fails("info", "ref=otters!") == (2, "INVALID_REF")
    assert fails("resolve_paper", f"ref={DOI}") == (1, "NOT_FOUND")
    assert fails("expand_citation_graph", f"ref={DOI}") == (3, "CAPABILITY_DENIED")
    world.pages["api.crossref.org/works/10.1234%2Fbusy"] = 429, {"Retry-After": "7"}, b"{}"
    world.pages["api.unpaywall.org/v2/10.1234%2Fbusy"] = 429, {"Retry-After": "7"}, b"{}"
    assert fails("resolve_paper", "ref=10.1234/busy") == (75, "RATE_LIMITED")
    world.root.write_bytes(b"in the way")
    assert fails("fetch_paper", f"ref={DOI}", "force=true") == (3, "STORE_ERROR")


def test_a_changed_log_is_told_at_its_row(world: World, command: Command) -> None:
    verify = ("audit", "verify", "--log", "provenance")
    assert command(*verify)[:2] == (0, f"{world.log}: 0 rows, and all of them hold\n")
    ProvenanceLog(world.log).append("session_start", now=0.0)
    assert command(*verify)[:2] == (0, f"{world.log}: 1 rows, and all of them hold\n")
    world.log.write_text(world.log.read_text("utf-8").replace("session_start", "session_end"), "utf-8")

    code, out, _ = command(*verify)

    assert (code, out) == (1, f"{world.log}: row 1 was changed; 0 rows before it hold\n")
    assert json.loads(command(*verify, "--json")[1])["ok"] is False
    assert command(*verify[:2], "/nowhere/log", *verify[2:])[0] == 2
    assert command("audit", "verify", "--log", "captain")[0] == 2
