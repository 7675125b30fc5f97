"""A rehearsal loads what a call uses, and nothing comes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from specloom.cache import AnswerCache
from specloom.compiler import make_image
from specloom.core import Request, Response
from specloom.model import Image, load_model
from specloom.runtime import Executor, rehearse
from tests.support.demo_specs import TOOL, Edits, weave_demo, write_demo


class Silent:
    """A way out that must not be used."""

    async def send(self, request: Request) -> Response:
        pytest.fail(f"{request.url} was asked")

    async def aclose(self) -> None:
        pass


def make_executor(folder: Path, edits: Edits | None = None, **environ: str) -> tuple[Executor, list[str]]:
    """An engine over the image of the demo specs, and what it loads."""
    path = folder / "kept" / "model.image"
    path.parent.mkdir(mode=0o700)
    path.write_bytes(make_image(weave_demo(write_demo(folder / "specs", edits or {}))[0], "stamp"))
    path.chmod(0o600)
    image, loaded = Image(str(path)), []
    load = image.load

    def note(kind: str, name: str = "") -> object:
        loaded.append(f"{kind}/{name}")
        return load(kind, name)

    image.load = note  # type: ignore[method-assign]
    cache = AnswerCache(disk=None, key=None, clock=lambda: 1000.0, warn=pytest.fail)
    return Executor(load_model(image), environ=environ, sender=Silent(), cache=cache), loaded


CONFIGURED = {"DEMO_URL": "https://demo.example.org", "DEMO_KEY": "k"}


def test_the_tool_and_whom_it_asks_are_loaded(tmp_path: Path) -> None:
    executor, loaded = make_executor(tmp_path, **CONFIGURED)

    rehearse(executor, "demo_find")

    assert {"tools/demo_find", "providers/demo", "capabilities/demo_pages"} <= set(loaded)


def test_nothing_is_kept_or_counted(tmp_path: Path) -> None:
    executor, _ = make_executor(tmp_path, **CONFIGURED)

    rehearse(executor, "demo_find")

    assert executor.cache is not None
    assert executor.cache.stats()["misses"] == executor.cache.stats()["hits"] == 0
    assert executor.tool_counts["demo_find"].calls == 0
    assert executor.breakers.snapshot() == []


@pytest.mark.parametrize(
    "edits",
    [
        {
            TOOL: [
                ("num_results: {type: integer,", "num_results: {type: integer, required: true,"),
                ("default: 5, ", ""),
            ]
        },
        {TOOL: [("min_length: 1, max_length: 100", "min_length: 50, max_length: 100")]},
    ],
    ids=["a number is needed", "a word is too short"],
)
def test_a_call_that_gets_nowhere_ends_there(tmp_path: Path, edits: Edits) -> None:
    executor, loaded = make_executor(tmp_path, edits, **CONFIGURED)

    rehearse(executor, "demo_find")

    assert "tools/demo_find" in loaded
    assert "providers/demo" not in loaded


def test_a_tool_that_nobody_answers_for_is_only_loaded(tmp_path: Path) -> None:
    executor, loaded = make_executor(tmp_path)

    rehearse(executor, "demo_find")

    assert "tools/demo_find" in loaded
    assert "providers/demo" not in loaded
