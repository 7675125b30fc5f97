"""A catalogue from what is kept of listings is, byte for byte, the one that is made of the specs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import pytest

from specloom.compiler import make_image
from specloom.model import Image, ListedModel, Model, load_model
from specloom.server.catalogue import CATALOGUES, OUTPUT_SCHEMAS, Selection, listings, make_catalogue
from tests.support.shipped import shipped_specs

ENVIRONMENTS: tuple[Mapping[str, str], ...] = (
    {},
    {"SEARXNG_URL": "https://search.example.org", "SEARCH_ROUTING": "searxng"},
    {"BRAVE_API_KEY": "k", "TAVILY_API_KEY": "k", "EXA_API_KEY": "k", "SERPER_API_KEY": "k", "SEARCHAPI_API_KEY": "k"},
    {"GITHUB_TOKEN": "k", "SPECLOOM_PAPERS": "true", "SEARCH_PROVIDER": "brave"},
)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    model = shipped_specs().model
    path = tmp_path_factory.mktemp("image") / "model.image"
    path.write_bytes(make_image(model, "stamp", (), listings(model)))
    path.chmod(0o600)
    return Image(str(path))


def to_parts(
    model: Model | ListedModel, selection: Selection, environ: Mapping[str, str] | None, **options: Any
) -> list[object]:
    try:
        made = make_catalogue(model, selection, environ, **options)
    except ValueError as error:
        return [str(error)]
    names = ("tools", "tool_names", "resources", "resource_templates", "instructions", "subscribe")
    return [getattr(made, name) for name in names]


@pytest.mark.parametrize("whole", [True, False], ids=["the model", "lists alone"])
@pytest.mark.parametrize("environ", [None, *ENVIRONMENTS], ids=["any", "empty", "one key", "many keys", "switches"])
def test_a_catalogue_is_the_same_from_what_is_kept(
    image: Image, environ: Mapping[str, str] | None, whole: bool
) -> None:
    compiled = shipped_specs().model
    kept: Model | ListedModel = load_model(image) if whole else ListedModel(image)

    for toolsets, schemas, how in itertools.product([(), ("core",), ("all",)], OUTPUT_SCHEMAS, CATALOGUES):
        selection = Selection(toolsets, output_schemas=schemas, catalogue=how)
        assert to_parts(kept, selection, environ) == to_parts(compiled, selection, environ)
    replayed = {"always_configured": True}
    assert to_parts(kept, Selection(), environ, **replayed) == to_parts(compiled, Selection(), environ, **replayed)


def test_no_tool_or_resource_is_loaded_to_be_listed(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    load = Image.load

    def note(self: Image, kind: str, name: str = "") -> object:
        loaded.append(kind)
        return load(self, kind, name)

    monkeypatch.setattr(Image, "load", note)

    make_catalogue(load_model(image), Selection(), ENVIRONMENTS[1])

    assert set(loaded) == {"heads", "listed", "toolsets"}


def test_a_listing_that_was_changed_changes_no_other(image: Image) -> None:
    model = load_model(image)

    model.listed("web_search")["inputSchema"]["properties"].clear()  # type: ignore[index]

    assert model.listed("web_search")["inputSchema"]["properties"]  # type: ignore[index]


def test_the_model_is_not_loaded_to_list_tools(image: Image, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specloom.model.image.load_model", None)

    assert make_catalogue(ListedModel(image), Selection(), ENVIRONMENTS[1]).tools
