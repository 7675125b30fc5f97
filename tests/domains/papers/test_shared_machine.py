"""A store that several tenants share: none is told where it lies on the machine, and no import keeps others waiting."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.domains.papers.test_client_reading_on import DOI, store_paper
from tests.support.scholar_client import Upstreams
from tests.support.scrape_client import ask, connected

NAME = "doi_10.1234_bridges"
OTHER = ("10.1234/tunnels", "doi_10.1234_tunnels")
BOOK = "@book{otters, title={Otters}, file={/absent/otters.pdf}}"
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("doiget_fetch_paper", {"ref": DOI}),
    ("doiget_fetch_paper", {"ref": DOI, "dry_run": True}),
    ("doiget_metadata_only", {"ref": DOI, "dry_run": True}),
    ("doiget_batch_fetch", {"refs": [DOI], "dry_run": True}),
    ("doiget_paper_pdf_path", {"ref": DOI}),
    ("doiget_paper_text", {"ref": DOI}),
    ("doiget_info", {"ref": DOI}),
    ("doiget_health", {}),
    ("doiget_capability_profile", {}),
    ("doiget_list_recent", {}),
    ("doiget_search_local", {"query": "bridges"}),
    ("doiget_batch_from_bibliography", {"path": "/absent/otters.bib"}),
    ("library_export", {"style": "a-style-that-nobody-has"}),
    ("format_bibliography", {"bibliography": BOOK, "style": "a-style-that-nobody-has"}),
    ("library_import", {"bibliography": BOOK, "pdfs": True}),
    ("library_import", {"path": "/absent/otters.bib"}),
    ("library_notes", {}),
    ("library_merge", {"keep": DOI, "refs": [OTHER[0]]}),
    ("library_remove", {"refs": [DOI]}),
]


async def call_all(root: Path, *, is_alone: bool) -> dict[str, str]:
    """What each call is told, by its number and tool."""
    settings = {"DOIGET_STORE_ROOT": str(root / "papers"), "SPECLOOM_VAULT": str(root / "vault")}
    (root / "papers").mkdir(parents=True)
    store_paper(root / "papers", b"%PDF-1.4\n%%EOF")
    store_paper(root / "papers", b"%PDF-1.4\n%%EOF", key=OTHER[1], name=f'doi = "{OTHER[0]}"')
    async with connected(sender=Upstreams({}), is_alone=is_alone, **settings) as client:
        return {f"{at} {name}": str(await client.call_tool(name, asked)) for at, (name, asked) in enumerate(CALLS)}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    return tmp_path


async def test_no_path_of_the_machine_is_told_where_others_run_the_server(home: Path) -> None:
    told = await call_all(home / "shared", is_alone=False)

    assert [name for name, text in told.items() if str(home) in text] == []
    assert "Unknown tool" not in str(told)
    assert f"'path': '{NAME}.pdf'" in told["0 doiget_fetch_paper"]
    assert f"'target_metadata_path': '.metadata/{NAME}.toml'" in told["1 doiget_fetch_paper"]
    assert f"'trash': ['.trash/{NAME}." in told["18 library_remove"]


async def test_whoever_runs_the_server_is_told_paths_that_can_be_opened(home: Path) -> None:
    told = await call_all(home / "own", is_alone=True)

    pdf = home / "own" / "papers" / f"{NAME}.pdf"
    assert f"'path': '{pdf}'" in told["0 doiget_fetch_paper"]
    assert f"'path': '{pdf}'" in told["4 doiget_paper_pdf_path"]
    assert str(home / "styles") in told["12 library_export"] or "specloom/styles" in told["12 library_export"]


async def test_others_have_their_turn_after_each_work_of_a_bibliography(tmp_path: Path) -> None:
    works, turns, done = 200, 0, False

    async def count_turns() -> None:
        nonlocal turns
        while not done:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count_turns())
    bibliography = "".join(f"@book{{k{at}, title={{Otters {at}}}}}\n" for at in range(works))
    async with connected(sender=Upstreams({}), DOIGET_STORE_ROOT=str(tmp_path / "papers")) as client:
        before = turns
        told = await ask(client, "library_import", bibliography=bibliography, dry_run=True)
        during = turns - before
    done = True
    await counting

    assert told["added"] == works
    assert during >= works


async def test_an_entry_of_more_people_than_any_paper_has_costs_no_other(tmp_path: Path) -> None:
    people = {"many": 6000, "more": 6001}
    bibliography = "".join(
        f"@article{{{key}, title={{{key}}}, author={{{' and '.join(['Ann Otter'] * count)}}}}}\n"
        for key, count in people.items()
    )
    async with connected(sender=Upstreams({}), DOIGET_STORE_ROOT=str(tmp_path / "papers")) as client:
        told = await ask(client, "library_import", bibliography=bibliography, dry_run=True)

    assert [row["key"] for row in told["entries"]] == ["many"]
    assert [row["message"] for row in told["unreadable"]] == [
        "the entry names 6,001 people, and 6,000 are read at most"
    ]
