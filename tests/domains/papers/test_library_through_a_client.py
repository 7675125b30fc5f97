"""A library to work from, through an MCP client: what comes out compiles, and what is found opens with every tool."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from mcp import Client
from pylatexenc.latexwalker import LatexWalker

from specloom.server.backend import ExecutorBackend
from specloom.server.catalogue import Selection, make_catalogue
from specloom.server.sdk_host import Host
from tests.support.loopback import Loopback
from tests.support.paper_store import Rerouted, World, as_json, crossref, model
from tests.support.research_server import ADA, Server, ask, begin

BIB = r"""@inproceedings{garcia2015quantum,
  title = {How otters swim, part 2: 100\% of {R\&D} \#5 a\_b},
  author = {García Márquez, Gabriel and {ATLAS Collaboration} and van Beethoven, Ludwig},
  editor = {Smith, B.}, booktitle = {Otters \& Co}, date = {2015-03-12}, publisher = {Weir},
  pages = {1--9}, doi = {10.1234/otters}, url = {https://weir.example/1}, abstract = {They hold hands.},
  keywords = {river, winter}, file = {Paper:files/otters.pdf:application/pdf}, groups = {thesis},
}
@book{weir2001, title = {Weirs \& dams}, author = {Weir, Ann}, year = {2001}, publisher = {Dam}, isbn = {9780306406157}}
"""

Work = Callable[[Client], Awaitable[None]]


def use(world: World, work: Work) -> None:
    """Let a client work with the tools of the store of a world."""

    async def connect() -> None:
        with Loopback(world._answer) as server:
            executor = world.engine(Rerouted(server.url))
            catalogue = make_catalogue(model(), Selection(["papers", "library", "research"]), {})
            try:
                async with Client(Host(catalogue, lambda: ExecutorBackend(executor)).server()) as client:
                    await work(client)
            finally:
                await executor.aclose()

    asyncio.run(connect())


def fields_of(bibtex: str) -> dict[str, str]:
    """The fields of one entry of BibTeX as they are written, one a line."""
    lines = (line.strip().rstrip(",") for line in bibtex.splitlines() if " = {" in line)
    return {name.strip(): text.strip()[1:-1] for name, _, text in (line.partition("=") for line in lines)}


def compile_latex(text: str) -> None:
    """Read a text as LaTeX does: an error for braces that do not fit, and signs that stop it or swallow the line."""
    nodes, *_ = LatexWalker(text, tolerant_parsing=False).get_latex_nodes()
    plain = text
    for escaped in (r"\&", r"\%", r"\#", r"\_", r"\$"):
        plain = plain.replace(escaped, "")
    assert nodes
    assert not set("&%#_") & set(plain), text


def test_every_export_is_one_that_latex_reads_with_names_types_keys_files_and_keywords_kept(world: World) -> None:
    async def work(client: Client) -> None:
        imported = await ask(client, "library_import", bibliography=BIB)
        assert imported["added"] == 2
        for tool, arguments in (
            ("doiget_bibtex_export", {"refs": ["10.1234/otters"]}),
            ("library_export", {"style": "bibtex"}),
            ("library_export", {"style": "biblatex"}),
        ):
            told = await ask(client, tool, **arguments)
            text = str(told.get("bibliography") or told.get("bibtex") or told)
            for name, value in fields_of(text).items():
                if name not in ("doi", "url", "file", "eprint"):
                    compile_latex(value)
        written = (await ask(client, "library_export", style="biblatex"))["bibliography"]
        for kept in (
            "@inproceedings{garcia2015quantum,",
            "@book{weir2001,",
            "García Márquez, Gabriel and {ATLAS Collaboration} and van Beethoven, Ludwig",
            "editor = {Smith, B.}",
            "date = {2015-03-12}",
            "abstract = {They hold hands.}",
            "otters.pdf",
            "river, winter",
            "9780306406157",
        ):
            assert kept in written
        csl = {
            one["id"]: one
            for one in json.loads((await ask(client, "library_export", style="csl-json"))["bibliography"])
        }
        assert {key: one["type"] for key, one in csl.items()} == {
            "garcia2015quantum": "paper-conference",
            "weir2001": "book",
        }
        first, second, third = csl["garcia2015quantum"]["author"]
        assert (first["family"], second["literal"], third["family"]) == (
            "García Márquez",
            "ATLAS Collaboration",
            "Beethoven",
        )

    use(world, work)


@pytest.mark.parametrize(
    "query", ["OTTERS swim", "marquez", "10.1234/OTTERS", "year:2015", "tag:river", "in:thesis", "@garcia2015quantum"]
)
def test_a_hit_opens_with_every_other_tool(world: World, query: str) -> None:
    async def work(client: Client) -> None:
        await ask(client, "library_import", bibliography=BIB)
        row = (await ask(client, "doiget_search_local", query=query))["results"][0]
        listed = (await ask(client, "doiget_list_recent"))["entries"]
        assert {"ref", "key", "authors"} <= set(row)
        assert row["ref"] in {one["ref"] for one in listed}
        for ref in (row["ref"], f"@{row['key']}"):
            assert (await ask(client, "doiget_info", ref=ref))["metadata"]["title"].startswith("How otters swim")
            assert (await ask(client, "doiget_tag", ref=ref, add=["seen"]))["ok"]
            assert (await ask(client, "doiget_annotate", ref=ref, text="Read this."))["ok"]
            assert (await ask(client, "doiget_paper_pdf_path", ref=ref))["ok"]
            for tool in ("doiget_bibtex_export", "doiget_csl_export"):
                assert (await ask(client, tool, refs=[ref]))["ok"]
            assert (
                "garcia2015quantum" in (await ask(client, "library_export", style="bibtex", refs=[ref]))["bibliography"]
            )

    use(world, work)


def test_tags_notes_and_collections_are_found_listed_and_exported(world: World) -> None:
    async def work(client: Client) -> None:
        await ask(client, "library_import", bibliography=BIB)
        await ask(client, "doiget_tag", ref="@weir2001", add=["concrete"])
        await ask(client, "doiget_annotate", ref="@weir2001", text="Read this for the sluices.")
        for query in ("tag:concrete", "sluices", "concrete"):
            assert [one["key"] for one in (await ask(client, "doiget_search_local", query=query))["results"]] == [
                "weir2001"
            ]
        labels = await ask(client, "library_labels")
        written = (await ask(client, "library_export", style="biblatex"))["bibliography"]
        assert all(one in json.dumps(labels) for one in ("concrete", "river", "thesis"))
        assert all(one in written for one in ("concrete", "sluices", "thesis"))

    use(world, work)


def test_a_doi_in_any_case_as_an_address_or_with_odd_signs_is_one_work(world: World) -> None:
    sici = "10.1002/(SICI)1097-0258(19980815)17:15<1661::AID-SIM968>3.0.CO;2-2"
    world.pages |= {**crossref("10.1371/journal.p1"), **crossref("10.1371/JOURNAL.P1")}

    async def work(client: Client) -> None:
        for ref in ("10.1371/journal.p1", "10.1371/JOURNAL.P1", "https://doi.org/10.1371/journal.p1"):
            assert (await ask(client, "doiget_metadata_only", ref=ref))["ok"]
        await ask(client, "library_import", bibliography=f"@article{{s, title = {{Signs}}, doi = {{{sici}}}}}")
        assert len((await ask(client, "doiget_list_recent"))["entries"]) == 2
        for ref in (sici, sici.lower(), f"https://doi.org/{sici}"):
            assert (await ask(client, "doiget_info", ref=ref))["metadata"]["title"] == "Signs"
        climbing = await ask(client, "doiget_info", ref="10.1000/../../etc")
        assert (climbing["ok"], climbing["error"]["code"]) == (False, "INVALID_REF")

    use(world, work)


CLAIM = "They hold hands while they sleep."


@pytest.mark.parametrize("stored", [True, False])
def test_a_claim_is_held_against_what_is_in_hand_where_the_page_is_closed(world: World, stored: bool) -> None:
    abstract = "Sea otters hold hands while they sleep, so that they do not drift apart from each other in the current."
    world.environ["CHROME_PATH"] = "disabled"
    world.pages |= crossref("10.1234/otters", **({} if stored else {"abstract": f"<jats:p>{abstract}</jats:p>"}))
    world.pages["doi.org/10.1234/otters"] = (403, {}, b"No.")

    async def work(client: Client) -> None:
        if stored:
            bib = f"@article{{o, title = {{How otters swim}}, doi = {{10.1234/otters}}, abstract = {{{abstract}}}}}"
            await ask(client, "library_import", bibliography=bib)
        told = await ask(client, "verify_citation", citation="10.1234/otters", claim=CLAIM)
        basis = "stored_abstract" if stored else "record_abstract"
        assert (told["claimSupport"], told["claimBasis"]) == ("addressed", basis)

    use(world, work)


def test_works_of_a_walk_have_titles_years_and_dois(world: World) -> None:
    world.environ["DOIGET_ENABLE_OPENALEX"] = "1"
    named = {"title": "How otters swim", "publication_year": 2019, "doi": "https://doi.org/10.1234/swim"}
    first, second = (
        as_json({"id": f"https://openalex.org/{one}", "referenced_works": cited, **named})
        for one, cited in (("W1", ["https://openalex.org/W2"]), ("W2", []))
    )
    world.pages |= {"api.openalex.org/works/doi%3A10.1234%2Fotters": first, "api.openalex.org/works/W1": first}
    world.pages["api.openalex.org/works/W2"] = second

    async def work(client: Client) -> None:
        told = await ask(client, "doiget_expand_citation_graph", ref="10.1234/otters", depth=2)
        assert [one["id"] for one in told["nodes"]] == ["W1", "W2"]
        for node in told["nodes"]:
            assert (node["title"], node["year"], node["doi"]) == ("How otters swim", 2019, "10.1234/swim")

    use(world, work)


@pytest.fixture
def server() -> Server:
    return Server()


async def test_a_pasted_list_of_references_is_audited_and_a_document_formatted_in_other_forms(server: Server) -> None:
    pasted = (
        "Diver, A. (2021). What otters eat. Journal of Otters, 1(2), 3-4. https://doi.org/10.1038/otters1\n\n"
        "Weir, B. (2001). Weirs and dams. Dam Press.\n"
    )
    async with server.client(ADA) as client:
        audited = await ask(client, "audit_bibliography", bibliography=pasted)
        formatted = await ask(client, "format_bibliography", bibliography=BIB, style="ris")

    assert len(audited["entries"]) == 2
    text = formatted["bibliography"]
    assert (text.count("TY  - "), text.count("ER  -")) == (2, 2)
    for kept in ("10.1234/otters", "García Márquez, Gabriel", "SP  - 1", "EP  - 9", "Otters & Co", "TY  - BOOK"):
        assert kept in text


async def test_a_lost_session_is_found_in_the_list_by_a_word_and_taken_up(server: Server) -> None:
    async with server.client(ADA) as client:
        for goal in ("What otters eat", "How badgers dig"):
            await begin(client, researchGoal=goal)
        found = await ask(client, "list_research_sessions", query="badgers")
        (row,) = found["sessions"]
        taken_up = await ask(client, "get_research_session", sessionId=row["sessionId"])

    assert taken_up["researchGoal"] == row["goal"] == "How badgers dig"


async def test_a_host_without_resources_reads_a_large_answer_by_a_tool(server: Server) -> None:
    async with server.client(ADA) as client:
        session = await begin(client)
        for number in range(2, 10):
            told = {"searchStep": f"{number} " + "long " * 790, "nextStepNeeded": True, "sessionId": session}
            await ask(client, "sequential_search", stepNumber=number, **told)
        linked = await ask(client, "research_export", sessionId=session)
        whole, at = "", {"source": linked["resource"]}
        while at:
            part = await ask(client, "read_more", **at)
            whole += part["content"]
            at = part.get("readOn")

    assert linked["linked"] is True
    assert all(f"{number} long" in whole for number in range(2, 10))


def test_the_folder_of_a_store_is_read_by_nobody_who_only_looks(world: World) -> None:
    def files(folder: Path) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    async def fill(client: Client) -> None:
        await ask(client, "library_import", bibliography=BIB)
        await ask(client, "library_export", style="bibtex")

    async def look(client: Client) -> None:
        for query in ("otters", "tag:river"):
            await ask(client, "doiget_search_local", query=query)
        await ask(client, "library_export", style="ris")
        await ask(client, "library_labels")
        await ask(client, "library_duplicates")

    use(world, fill)
    before = files(world.root)
    use(world, look)
    assert files(world.root) == before


COMPARED = """@article{k1, author={Doe, J}, title={A work with p<q and <i>r</i>>s}, year=2019, doi={10.1234/k1},
  abstract={If a<b then c>d holds.}, note={N: x<y but z>w}}"""


def test_signs_of_comparison_stay_in_titles_abstracts_and_notes_on_every_way_out(world: World) -> None:
    async def work(client: Client) -> None:
        await ask(client, "library_import", bibliography=COMPARED)
        await ask(client, "doiget_annotate", ref="10.1234/k1", text="if e<f then g>h")
        item = json.loads((await ask(client, "library_export", style="csl-json"))["bibliography"])[0]
        listed = await ask(client, "format_bibliography", style="ris", bibliography=COMPARED)

        assert item["title"] == "A work with p<q and r>s"
        assert item["abstract"] == "If a<b then c>d holds."
        assert (item["note"], item["annote"]) == ("N: x<y but z>w", "if e<f then g>h")
        assert "p<q and r>s" in listed["bibliography"]

    use(world, work)


PAGES = """@online{seen, author={Ott, A}, title={Report two}, url={https://e.example/2}, urldate={2020-05-06}}
@online{month, author={Pike, B}, title={Report three}, url={https://e.example/3}, urldate={2020-05}}
@online{never, author={Reed, C}, title={Report four}, url={https://e.example/4}}"""


@pytest.mark.parametrize(
    ("style", "day", "month"),
    [
        ("apa", "Retrieved May 6, 2020, from", "Retrieved May 2020, from"),
        ("mla", "Accessed 6 May 2020.", "Accessed May 2020."),
        ("chicago-notes", "Accessed May 6, 2020.", "Accessed May 2020."),
        ("harvard", "(Accessed: 6 May 2020)", "(Accessed: May 2020)"),
    ],
)
def test_a_page_shows_the_day_of_access_that_it_says_and_no_other(
    world: World, style: str, day: str, month: str
) -> None:
    async def work(client: Client) -> None:
        await ask(client, "library_import", bibliography=PAGES)
        formatted = await ask(client, "format_bibliography", style=style, bibliography=PAGES)
        for told in (formatted, await ask(client, "library_export", style=style)):
            first, second, third = told["bibliography"].split("\n\n")
            assert day in first
            assert month in second
            assert "Accessed" not in third
            assert "Retrieved" not in third

    use(world, work)


OPEN = "@article{open, author={Doe, Jane and others}, title={Things}, journal={J}, year=2001, doi={10.1234/open}}"


def test_a_list_of_authors_that_goes_on_goes_on_in_the_store_and_out_of_it(world: World) -> None:
    async def work(client: Client) -> None:
        await ask(client, "library_import", bibliography=OPEN)
        told = {
            style: await ask(client, "library_export", style=style)
            for style in ("bibtex", "biblatex", "csl-json", "apa", "ris")
        }
        shared = (await ask(client, "doiget_bibtex_export", refs=["10.1234/open"]))["entries"][0]["bibtex"]
        again = await ask(client, "library_import", bibliography=told["csl-json"]["bibliography"])

        for style in ("bibtex", "biblatex"):
            assert "author = {Doe, Jane and others}" in told[style]["bibliography"]
        assert "{Jane Doe and others}" in shared
        assert json.loads(told["csl-json"]["bibliography"])[0]["author"][1] == {"literal": "others"}
        assert told["apa"]["bibliography"].startswith("Doe, J., et al. (2001). Things.")
        assert told["ris"]["notKept"] == [{"field": "et-al", "entries": 1}]
        assert again["unchanged"] == 1

    use(world, work)
