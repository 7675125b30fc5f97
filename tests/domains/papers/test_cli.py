"""The commands over the paper store: what they print, where, and what they exit with."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

import specloom.server as server_room
from specloom.cli.main import main
from specloom.domains.papers.provenance_log import Log
from tests.support.loopback import Loopback
from tests.support.paper_store import PDF, Rerouted, World, arxiv, as_json, crossref, pdf, unpaywall

DOI = "10.1234/otters"
PLACE = "www.nature.com/otters.pdf"
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs `specloom papers …` with the upstreams of the world: exit code, standard output, standard error."""
    monkeypatch.setenv("DOIGET_STORE_ROOT", str(world.root))
    monkeypatch.setenv("DOIGET_LOG_PATH", str(world.log))

    def run(*words: str) -> tuple[int, str, str]:
        with Loopback(world._answer) as server:
            monkeypatch.setattr(server_room, "make_executor", lambda *_, **__: world.engine(Rerouted(server.url)))
            code = main(["papers", *words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def known(world: World, *places: str) -> None:
    world.pages |= crossref(DOI) | unpaywall(DOI, *places) | {PLACE: pdf()}


def test_a_dry_run_tells_the_plan_and_makes_nothing(world: World, command: Command) -> None:
    code, out, _ = command("fetch", "10.1234/abc", "--dry-run")

    assert code == 0
    assert "nothing was asked or written" in out
    assert str(world.root / "doi_10.1234_abc.pdf") in out
    assert not world.root.exists()
    assert json.loads(command("fetch", "10.1234/abc", "--dry-run", "--json")[1])["plan"]["would_append_provenance"]


def test_a_paper_is_told_with_its_file(world: World, command: Command) -> None:
    known(world, f"https://{PLACE}")

    code, out, err = command("fetch", DOI)

    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"{DOI}: Ann Otter, Ben Stream: How otters swim (2021)",
        f"  {world.root / 'doi_10.1234_otters.pdf'} (22 bytes, licence cc-by, found by unpaywall)",
    ]


def test_a_paper_without_a_copy_is_told_with_what_could_help(world: World, command: Command) -> None:
    known(world)

    code, out, _ = command("fetch", DOI)

    assert code == 1
    assert "no PDF: no free copy is known" in out
    assert "openalex may know a copy: set DOIGET_ENABLE_OPENALEX" in out


def test_a_refused_host_is_told_with_the_variable_that_lets_it_in(world: World, command: Command) -> None:
    known(world, "https://papers.elsewhere.example.com/x.pdf")

    code, out, _ = command("fetch", DOI)

    assert code == 3
    assert "which is not among the hosts allowed for it. [CAPABILITY_DENIED]" in out
    assert "to allow it: DOIGET_ADDITIONAL_HOSTS=papers.elsewhere.example.com (this host alone)" in out


def test_several_papers_have_a_row_each_and_the_code_counts_those_without_a_pdf(world: World, command: Command) -> None:
    known(world, f"https://{PLACE}")

    code, out, _ = command("fetch", DOI, "10.1234/nobody")

    assert code == 1
    assert "10.1234/nobody: " in out
    assert "[NOT_FOUND]" in out
    assert out.splitlines()[-1] == "1 of 2 papers have a PDF"


def test_a_bibliography_is_imported_from_a_path_below_here(
    world: World, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    known(world, f"https://{PLACE}")
    (world.folder / "my.bib").write_text(
        f"@article{{otter, doi = {{{DOI}}}}}\n@book{{weir, title = {{Weirs}}}}\n", "utf-8"
    )
    monkeypatch.chdir(world.folder)

    code, out, _ = command("import", "my.bib")

    assert code == 1
    assert "weir: The entry 'weir' has no DOI, arXiv or PubMed identifier. [INVALID_REF]" in out
    assert out.splitlines()[-1] == "1 of 2 papers have a PDF"
    assert command("import", "none.bib")[0] == 2


def test_what_is_stored_is_told_found_and_written_as_bibtex(world: World, command: Command) -> None:
    known(world, f"https://{PLACE}")
    command("fetch", DOI)

    assert "title             How otters swim\n" in command("info", DOI)[1]
    assert command("search", "weir")[1] == "doi_10.1234_otters  How otters swim (2021)\n"
    assert command("bib", DOI)[1].startswith("@article{doi_10.1234_otters,\n")
    assert json.loads(command("info", DOI, "--json")[1])["metadata"]["year"] == 2021
    assert json.loads(command("bib", DOI, "--json")[1])["entries"][0]["ref"] == DOI


def test_what_is_no_reference_is_misuse(command: Command) -> None:
    for words in (
        ("fetch", "otters!"),
        ("fetch", "10.1234/abc", "otters!"),
        ("info", "otters!"),
        ("link", "2401.12345"),
    ):
        code, out, err = command(*words)
        assert (code, out) == (2, "")
        assert err.startswith("specloom: ")
        assert err.rstrip().endswith("[INVALID_REF]")


def test_what_is_not_stored_is_a_failure_and_an_empty_search_is_none(command: Command) -> None:
    code, out, _ = command("info", "10.1234/abc")
    assert (code, out) == (1, "10.1234/abc is not in the store\n")
    code, _, err = command("bib", "10.1234/abc")
    assert (code, err) == (1, "specloom: 10.1234/abc: not in the store\n")
    code, out, _ = command("search", "otters")
    assert (code, out) == (0, "nothing in the store has this text\n")


def test_papers_are_found_by_words(world: World, command: Command) -> None:
    work = {
        "id": "https://openalex.org/W1",
        "doi": f"https://doi.org/{DOI}",
        "display_name": "How otters swim",
        "title": "How otters swim",
        "publication_year": 2021,
        "cited_by_count": 3,
        "open_access": {"oa_status": "gold", "is_oa": True},
        "authorships": [{"author": {"display_name": name}} for name in ("A. Otter", "B. Weir", "C. Pond", "D. Sea")],
    }
    world.pages["api.openalex.org/works"] = as_json({"meta": {"count": 7}, "results": [work]})

    code, out, _ = command("find", "otters", "--limit", "1", "--from", "2020")

    assert code == 0
    assert out.splitlines() == [
        "A. Otter, B. Weir, C. Pond, and others: How otters swim (2021)",
        f"  {DOI}, 3 citations, gold",
        "1 of 7 works",
    ]
    world.pages["api.openalex.org/works"] = as_json({"meta": {"count": 0}, "results": []})
    assert command("find", "otters")[:2] == (1, "0 of 0 works\n")


def test_a_limit_of_nothing_is_misuse_and_no_default(world: World, command: Command) -> None:
    code, _, err = command("find", "otters", "--limit", "0")

    assert (code, world.asked) == (2, [])
    assert "limit is 0; it may be 1 to 200" in err


def test_a_citation_is_resolved_without_quoting_it(world: World, command: Command) -> None:
    record = {"DOI": DOI, "title": ["How otters swim"], "author": [{"given": "Ann", "family": "Otter"}]}
    world.pages["api.crossref.org/works"] = as_json({"message": {"items": [record]}})

    code, out, _ = command("resolve", "Otter", "How", "otters", "swim")

    assert code == 0
    assert out.splitlines() == [f"{DOI}  exact, 100% of its words", "  Ann Otter: How otters swim"]
    assert command("resolve", "weasels")[:2] == (1, "no registered work has half of its words\n")


def test_a_preprint_is_linked_or_not_known(world: World, command: Command) -> None:
    work = {"id": "https://openalex.org/W1", "title": "Otters", "locations": []}
    world.pages["api.openalex.org/works/doi%3A10.1234%2Fotters"] = as_json(work)

    assert command("link", DOI)[:2] == (1, "no preprint is known\n")
    work["locations"] = [{"landing_page_url": "https://arxiv.org/abs/2401.12345", "pdf_url": None}]
    world.pages["api.openalex.org/works/doi%3A10.1234%2Fotters"] = as_json(work)
    assert command("link", DOI)[:2] == (0, "arxiv:2401.12345\n")


def test_a_text_is_markdown_and_what_was_cut_is_told_beside_it(world: World, command: Command) -> None:
    page = (
        "<html><body><article><h1>How otters swim</h1><h2>Abstract</h2><p>Otters swim where the water is shallow, "
        "and slower where it is deep.</p></article></body></html>"
    )
    world.pages |= arxiv("2401.12345") | {
        "ar5iv.labs.arxiv.org/html/2401.12345": (200, {"Content-Type": "text/html"}, page)
    }

    code, out, err = command("text", "2401.12345", "--max-chars", "6")

    assert (code, out) == (0, "# How otters swim\n\n## Abstract\n\nOtters\n")
    assert err == "specloom: there is more; raise --max-chars\n"
    code, out, err = command("text", "2401.12346")
    assert (code, out) == (1, "")
    assert err.endswith("[NOT_FOUND]\n")


def test_a_changed_log_is_told_at_its_row_and_one_that_is_not_there_is_a_failure(
    world: World, command: Command
) -> None:
    assert command("verify")[:2] == (0, f"{world.log}: nothing is written in it yet\n")
    Log(world.log).append("session_start", now=0.0)
    assert command("verify")[:2] == (0, f"{world.log}: every row holds (1)\n")
    world.log.write_text(world.log.read_text("utf-8").replace("session_start", "session_end"), "utf-8")

    code, out, _ = command("verify")

    assert code == 1
    assert "row 1 was changed: its hash is another" in out
    assert json.loads(command("verify", "--json")[1])["holds"] is False
    assert command("verify", "/nowhere/log")[0] == 4
    assert command("verify", str(world.folder))[0] == 4


def test_a_store_that_cannot_be_written_has_a_code_of_its_own(world: World, command: Command) -> None:
    world.root.write_bytes(PDF)

    code, _, err = command("fetch", DOI)

    assert code == 4
    assert err.endswith("[STORE_ERROR]\n")


def test_every_act_says_its_exit_codes_and_takes_json(capsys: pytest.CaptureFixture[str]) -> None:
    for act in ("fetch", "import", "find", "resolve", "text", "link", "info", "search", "bib", "verify", "migrate"):
        assert main(["papers", act, "--help"]) == 0
        text = capsys.readouterr().out
        assert "--json" in text
        assert "exit codes:" in text
