"""Packs the bundle that hosts install with one click (.mcpb): the wheel, who starts it, and what a person is asked.

It is a ZIP that is the same bytes whenever it is made from the same wheel, so that its digest can be published.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = ROOT / "deploy" / "bundle"
EXTRAS = "documents"
EPOCH = 315532800
"""The first moment that a ZIP can tell: 1980."""

PROJECT = """\
[project]
name = "specloom-bundle"
version = "{version}"
requires-python = ">=3.11"
dependencies = ["specloom[{extras}]"]

[tool.uv]
package = false

[tool.uv.sources]
specloom = {{path = "{wheel}"}}
"""


def pack(wheel: Path, folder: Path) -> Path:
    """Write the bundle of a wheel into a folder; where it is. A ValueError when it is the wheel of another version."""
    manifest = (FILES / "manifest.json").read_bytes()
    version = json.loads(manifest)["version"]
    if not wheel.name.startswith(f"specloom-{version}-"):
        raise ValueError(f"{wheel.name} is not of version {version}, of which the manifest is; run `make docs`")
    project = PROJECT.format(version=version, extras=EXTRAS, wheel=wheel.name).encode()
    files = {
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        "main.py": (FILES / "main.py").read_bytes(),
        "manifest.json": manifest,
        "pyproject.toml": project,
        wheel.name: wheel.read_bytes(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"specloom-{version}.mcpb"
    moment = time.gmtime(max(EPOCH, int(os.environ.get("SOURCE_DATE_EPOCH", EPOCH))))[:6]
    with zipfile.ZipFile(target, "w") as bundle:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, moment)
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            bundle.writestr(entry, files[name], zipfile.ZIP_DEFLATED)
    return target


def main() -> int:
    """Pack the bundle and print its digest and its place: 0 when it was packed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("wheel", type=Path, metavar="WHEEL")
    parser.add_argument("--to", type=Path, default=Path("dist"), metavar="DIR", help="(default: dist)")
    options = parser.parse_args()
    try:
        target = pack(options.wheel, options.to)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"bundle: {error}\n")
        return 1
    sys.stdout.write(f"{hashlib.sha256(target.read_bytes()).hexdigest()}  {target}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
