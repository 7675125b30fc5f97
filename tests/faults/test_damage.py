"""Files that are cut short, changed, emptied or replaced: the server starts, says so once, and nothing else is lost."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.conftest import Cell, Tries, often
from tests.support.served import STEP, RefusedError, Served, content, use_every_store
from tests.support.server_process import request
from tests.support.upstream import EVERY_STORE, Upstream

Damage = Callable[[Path, random.Random], None]


def flip(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(max(1, len(data) // 500)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def replace_by_folder(path: Path, _: random.Random) -> None:
    path.unlink()
    path.mkdir()


def cut(path: Path, chance: random.Random) -> None:
    path.write_bytes(path.read_bytes()[: chance.randrange(1, path.stat().st_size)])


DAMAGES: dict[str, Damage] = {
    "emptied": lambda path, _: path.write_bytes(b"") and None,
    "cut short": cut,
    "cut by one": lambda path, _: path.write_bytes(path.read_bytes()[:-1]) and None,
    "flipped bits": flip,
    "a folder": replace_by_folder,
    "not readable": lambda path, _: path.chmod(0),
    "random": lambda path, chance: path.write_bytes(chance.randbytes(path.stat().st_size)) and None,
}
STATE = ("session", "memory", "monitor", "artifact")
PAPERS = ("old paper", "new paper")
TARGETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "answers": (".cache/specloom/answers/cache.db", ()),
    "image": (".cache/specloom/catalogue-*.json", ()),
    "key of the answers": (".cache/specloom/cache.key", ()),
    "state": (".local/state/specloom/state.db", STATE),
    "key of the state": (".local/state/specloom/cache.key", STATE),
    "audit log": (".local/state/specloom/audit.jsonl", ()),
    "seal of the audit log": (".local/state/specloom/audit.jsonl.seal", ()),
    "provenance log": (".config/doiget/access.jsonl", PAPERS),
    "metadata of a paper": ("papers/.metadata/doi_10.1234_otters-a.toml", ("old paper",)),
    "a paper": ("papers/doi_10.1234_otters-a.pdf", ("old paper",)),
}


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A home in which every store holds something, and what it holds."""
    from tests.support.upstream import web

    home = tmp_path_factory.mktemp("used")
    with Upstream(web) as upstream, Served(home, {**upstream.environ(), **EVERY_STORE}) as server:
        kept = use_every_store(server)
        use_every_store(server, "b")
        assert server.finish() == 0
    return home, kept


def look(server: Served, kept: dict[str, str]) -> dict[str, str]:
    """What is wrong with each thing that was kept, empty where it is there and can be written on."""

    def session() -> None:
        trail = content(server.call("get_research_session", {"sessionId": kept["session"]}))
        assert trail["stepCount"] == 1
        content(server.call("sequential_search", STEP))

    def memory() -> None:
        content(server.call("memory_save", {"note": "Otters dive.", "topic": "new"}))
        recalled = content(server.call("memory_recall", {"topic": "a"}))
        assert recalled.get("count"), "it is gone"

    def monitor() -> None:
        assert content(server.call("monitor_query_check", {"query": "otters a"}))["status"] == "ok"

    def artifact() -> None:
        read = server.ask(request("read", "resources/read", {"uri": kept["artifact"]}))
        assert "result" in read, read["error"]["message"]

    def old_paper() -> None:
        answer = content(server.call("doiget_fetch_paper", {"ref": "10.1234/otters-a"}))
        assert answer["ok"], answer["error"]["message"]
        assert Path(answer["path"]).read_bytes().startswith(b"%PDF-"), "it is broken"

    def new_paper() -> None:
        for ref in ("10.1234/otters-b", "10.1234/otters-new"):
            answer = content(server.call("doiget_fetch_paper", {"ref": ref}))
            assert answer["ok"], answer["error"]["message"]

    def search() -> None:
        assert content(server.call("web_search", {"query": "otters a"}))["resultCount"] == 2

    problems = {}
    for look_at in (search, session, memory, monitor, artifact, old_paper, new_paper):
        try:
            look_at()
        except (AssertionError, RefusedError) as error:
            problems[look_at.__name__.replace("_", " ")] = str(error)
    return problems


@pytest.mark.parametrize("target", often(TARGETS, "state", "provenance log"))
def test_a_damaged_file_takes_only_what_it_held(
    target: str, used: tuple[Path, dict[str, str]], tmp_path: Path, upstream: Upstream, tries: Tries, cell: Cell
) -> None:
    pattern, held = TARGETS[target]
    chance = random.Random(target)
    names = list(DAMAGES)
    first = list(TARGETS).index(target)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        names.remove("not readable")  # root reads it all the same
    chosen = [names[(first + at) % len(names)] for at in range(tries(len(names), 1))]
    sentences: set[str] = set()
    for name in chosen:
        home = tmp_path / name
        shutil.copytree(used[0], home)
        (path,) = home.glob(pattern)
        DAMAGES[name](path, chance)

        with Served(home, {**upstream.environ(), **EVERY_STORE}) as server:
            problems = look(server, used[1])
            code = server.finish()
            told = server.stderr()

        where = f"{target}, {name}"
        assert code == 0, where
        assert not re.search(r"Traceback|a defect(?!: no call)|Error\(", told + str(problems)), (where, told, problems)
        assert set(problems) <= set(held), (where, problems, told)
        sentences |= {sentence.partition("\n")[0] for sentence in problems.values()} | set(told.splitlines())
    said = any(sentences)
    cell(
        "damaged file", target, len(chosen), f"nothing else lost, {'said in words' if said else 'made anew in silence'}"
    )
    for sentence in sorted(sentences):
        print(target, "|", sentence)
