"""The official tool of bundles accepts ours, and unpacks what we packed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from scripts import bundle
from tests.deploy.test_bundle import MANIFEST

TOOL = ["npx", "--yes", "@anthropic-ai/mcpb@2.1.2"]
PATIENCE = 300


@pytest.mark.node
def test_the_official_tool_validates_and_unpacks_the_bundle(tmp_path: Path) -> None:
    if shutil.which("npx") is None:
        pytest.skip("there is no npx")
    if subprocess.run([*TOOL, "--version"], capture_output=True, timeout=PATIENCE, check=False).returncode:
        pytest.skip("the tool cannot be had here")
    wheel = tmp_path / f"specloom-{MANIFEST['version']}-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    packed = bundle.pack(wheel, tmp_path)

    for words in (
        ["unpack", str(packed), str(tmp_path / "out")],
        ["validate", str(tmp_path / "out" / "manifest.json")],
    ):
        done = subprocess.run([*TOOL, *words], capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    assert (tmp_path / "out" / wheel.name).read_bytes() == b"wheel"
