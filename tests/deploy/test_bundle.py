"""The bundle asks for little, passes on nothing that was left empty, and is the same bytes each time."""

from __future__ import annotations

import json
import os
import re
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from scripts import bundle
from specloom.core import VARIABLES
from specloom.server import Selection, list_settings, select
from tests.support.shipped import shipped_model

ROOT = Path(__file__).parents[2]
MANIFEST: dict[str, Any] = json.loads((ROOT / "deploy" / "bundle" / "manifest.json").read_text(encoding="utf-8"))


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    """A file that is called as the wheel is; it is packed and not opened."""
    path = tmp_path / f"specloom-{MANIFEST['version']}-py3-none-any.whl"
    path.write_bytes(b"wheel" * 1000)
    return path


def test_a_person_is_asked_for_six_things_at_most_and_needs_none() -> None:
    asked = MANIFEST["user_config"]

    assert 0 < len(asked) <= 6
    assert not any(one["required"] for one in asked.values())
    assert all(one["title"] and len(one["title"]) <= 60 and one["description"] for one in asked.values())


def test_what_is_asked_is_passed_on_and_what_is_left_empty_is_empty() -> None:
    asked, env = MANIFEST["user_config"], MANIFEST["server"]["mcp_config"]["env"]
    used = {name: re.fullmatch(r"\$\{user_config\.(\w+)\}", value) for name, value in env.items()}

    assert {one and one[1] for one in used.values()} == set(asked)
    assert all("default" in one for one in asked.values())


def test_variables_are_those_of_the_product_and_secrets_are_kept_as_such() -> None:
    known = {**VARIABLES, **list_settings(shipped_model().heads)}

    for name in MANIFEST["server"]["mcp_config"]["env"]:
        assert MANIFEST["user_config"][name.lower()]["sensitive"] is known[name].secret


def test_the_tools_are_those_of_the_default_toolset() -> None:
    names = [one["name"] for one in MANIFEST["tools"]]

    off = [one.name for one in shipped_model().heads.tools.values() if one.opt_in]
    assert sorted(names) == sorted(set(select(shipped_model(), Selection())) - set(off))


def test_two_bundles_of_one_wheel_are_the_same_bytes(wheel: Path, tmp_path: Path) -> None:
    first = bundle.pack(wheel, tmp_path / "a").read_bytes()
    os.utime(wheel, (1_000_000_000, 1_000_000_000))
    second = bundle.pack(wheel, tmp_path / "b").read_bytes()

    assert first == second


def test_a_bundle_has_what_starts_the_server(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(bundle.pack(wheel, tmp_path / "a")) as packed:
        names = packed.namelist()
        project = tomllib.loads(packed.read("pyproject.toml").decode())

    assert names == sorted(names)
    assert MANIFEST["server"]["entry_point"] in names
    assert MANIFEST["server"]["entry_point"] in MANIFEST["server"]["mcp_config"]["args"]
    assert project["tool"]["uv"]["sources"]["specloom"]["path"] == wheel.name
    assert wheel.name in names
    assert project["project"]["requires-python"] == f"{MANIFEST['compatibility']['runtimes']['python']}"


def test_a_wheel_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "specloom-9.9.9-py3-none-any.whl"
    path.write_bytes(b"")

    with pytest.raises(ValueError, match=r"9\.9\.9"):
        bundle.pack(path, tmp_path)
