"""Puts what is compiled of the shipped specs into the wheel, and makes the README one that can be read anywhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

BLOB, TREE = (f"https://github.com/specloom/specloom/{kind}/" for kind in ("blob", "tree"))
PICTURES = (".webp", ".png", ".svg")

NOT_HERE = 3
"""What the compiler leaves with where its dependencies are missing, as in a build that is isolated from them."""
COMPILE = f"""
import sys
try:
    from specloom.server.shipping import ship
    ship(sys.argv[1])
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit({NOT_HERE})
"""


class CompileSpecs(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles the specs for the interpreter that builds; others compile them at their first start."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add what is compiled to the files of the wheel; an editable one has none."""
        if version == "editable":
            return
        self.folder = tempfile.TemporaryDirectory()
        environ = {**os.environ, "PYTHONPATH": str(Path(self.root, "engine")), "PYTHONHASHSEED": "0"}
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", COMPILE, self.folder.name], env=environ, capture_output=True, text=True, check=False
        )
        if done.returncode == NOT_HERE:
            self.app.display_warning(f"the specs are not compiled into the wheel: {done.stderr.strip()}")
            return
        if done.returncode:
            raise RuntimeError(f"the shipped specs cannot be compiled: {done.stderr.strip()}")
        for path in sorted(Path(self.folder.name).iterdir()):
            build_data["force_include"][str(path)] = f"specloom/shipped/compiled/{path.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what was compiled, which is in the wheel by now."""
        if version != "editable" and hasattr(self, "folder"):
            self.folder.cleanup()


class ReadableReadme(MetadataHookInterface):
    """The README as the page of a package shows it: links to files of the checkout lead to those of the release."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Give the README as the long description."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": make_links_whole(text, f"v{metadata['version']}"),
        }


def make_links_whole(text: str, tag: str) -> str:
    """A Markdown text in which no link is relative: files and folders are those of a tag of the repository."""

    def whole(match: re.Match[str]) -> str:
        path = match[1]
        # The page of a picture is not the picture.
        raw = "?raw=true" if path.endswith(PICTURES) else ""
        return f"]({TREE if path.endswith('/') else BLOB}{tag}/{path}{raw})"

    return re.sub(r"\]\((?!https?://|#|mailto:)([^)\s]+)\)", whole, text)
