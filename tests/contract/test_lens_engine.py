"""A lens with an engine of its own is asked there first; wherever else it is asked, its sites stand for the engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from specloom.compiler.build import weave_from
from specloom.core.messages import Request, Response
from specloom.model.model import Model
from specloom.runtime.executor import Executor
from specloom.specs.library import shipped_root

GOOGLE = {"GOOGLE_CUSTOM_SEARCH_API_KEY": "made-up-1", "GOOGLE_CUSTOM_SEARCH_ID": "whole-web"}
BRAVE = {"BRAVE_API_KEY": "made-up-2"}
BOTH = {**GOOGLE, **BRAVE, "SEARCH_ROUTING": "brave,google"}
LENSES = {
    "rivers": "domains: [a.example, b.example]\nengine: made-up-engine\n",
    "lakes": "engine: made-up-engine\n",
    "ponds": "domains: [c.example]\ngoggle: https://goggles.example/ponds\n",
}
SITES = "(site:a.example OR site:b.example)"


@dataclass
class Web:
    """Answers as Google and as Brave do, with one page each, and keeps the queries by host."""

    google: int = 200
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    async def send(self, request: Request) -> Response:
        query = {name: str(value) for name, value in request.query}
        if "googleapis" in request.url:
            self.asked.append(("google", query))
            page: Any = {"items": [{"title": "G", "link": "https://a.example/g"}, {"link": "https://a.example/h"}]}
            return Response(self.google, {}, json.dumps(page).encode(), request.url)
        self.asked.append(("brave", query))
        host = "c" if "goggles" in query else "a"
        found = [{"title": "B", "url": f"https://{host}.example/b"}, {"url": f"https://{host}.example/c"}]
        page = {"web": {"results": found}}
        return Response(200, {}, json.dumps(page).encode(), request.url)

    async def aclose(self) -> None:
        """Nothing is open."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """The shipped specs with lenses of an operator's own above them."""
    folder: Path = tmp_path_factory.mktemp("layer")
    (folder / "lenses").mkdir()
    for name, told in LENSES.items():
        sites = {"rivers": " " + SITES, "ponds": " site:c.example"}.get(name, "")
        text = f"spec: lens/1\nname: {name}\ntitle: {name}\ndescription: About {name}.\n{told}"
        text += f'example: {{query: otters, makes: ["otters{sites}"]}}\n'
        (folder / "lenses" / f"{name}.yaml").write_text(text, encoding="utf-8")
    woven, report = weave_from([shipped_root(), folder], examples=False)[:2]
    assert woven.lenses["rivers"].engine == "made-up-engine", report
    return woven


async def search(model: Model, web: Web, environ: Mapping[str, str], **args: Any) -> dict[str, Any]:
    engine = Executor(model, environ=environ, sender=web, clock=lambda: 1_767_225_600.0, validate=True)
    return (await engine.call("web_search", {"query": "otters", **args})).answer


async def test_the_engine_goes_before_the_route_and_stands_for_the_sites(model: Model) -> None:
    web = Web()

    found = await search(model, web, BOTH, lens="rivers")

    assert [(who, query["cx"], query["q"]) for who, query in web.asked] == [("google", "made-up-engine", "otters")]
    assert found["urls"] == ["https://a.example/g", "https://a.example/h"]
    assert "notApplied" not in found


@pytest.mark.parametrize("environ", [BRAVE, BOTH])
async def test_where_the_engine_cannot_be_asked_the_sites_stand_for_it(
    model: Model, environ: Mapping[str, str]
) -> None:
    web = Web(google=401)

    found = await search(model, web, environ, lens="rivers")

    assert [query["q"] for who, query in web.asked if who == "brave"] == [f"otters {SITES}"]
    assert sum(who == "google" for who, _ in web.asked) == (environ is BOTH)
    assert found["urls"][0] == "https://a.example/b"
    assert "notApplied" not in found


async def test_whoever_is_asked_by_name_is_asked_in_its_own_way(model: Model) -> None:
    web = Web()

    await search(model, web, BOTH, lens="rivers", provider="brave")
    await search(model, web, BOTH, lens="rivers", provider="google")

    assert [(who, query.get("cx"), query["q"]) for who, query in web.asked] == [
        ("brave", None, f"otters {SITES}"),
        ("google", "made-up-engine", "otters"),
    ]


async def test_a_lens_that_is_nothing_but_an_engine_is_told_where_it_could_not_be_held_to(model: Model) -> None:
    found = await search(model, Web(), BRAVE, lens="lakes")

    assert found["notApplied"] == ["lens"]


async def test_other_lenses_follow_the_route(model: Model) -> None:
    web = Web()

    found = await search(model, web, BOTH, lens="ponds")

    assert [(who, query["q"], query["goggles"]) for who, query in web.asked] == [
        ("brave", "otters site:c.example", "https://goggles.example/ponds")
    ]
    assert "notApplied" not in found
