"""The resources of the contract: what is listed, in which order, and which of them tell of changes."""

from __future__ import annotations

import json
from pathlib import Path

from specloom.compiler.build import weave_from
from specloom.server.catalogue import Selection, make_catalogue
from specloom.specs.library import shipped_root

HELD = json.loads((Path(__file__).parent / "resources.json").read_text(encoding="utf-8"))


def test_the_lists_of_resources_and_templates_are_the_bytes_that_are_held() -> None:
    model, _, _ = weave_from([shipped_root()], examples=False)

    catalogue = make_catalogue(model, Selection(["all"]), {}, always_configured=True)

    held = {name: json.dumps(HELD[name], ensure_ascii=False, separators=(",", ":")).encode() for name in HELD}
    assert catalogue.resources == held["resources"]
    assert catalogue.resource_templates == held["resourceTemplates"]
    assert list(catalogue.subscribe) == HELD["subscribe"]
