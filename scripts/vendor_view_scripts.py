"""Makes the scripts that templates of views may name: `python scripts/vendor_view_scripts.py` (needs npm).

Packages come by `npm pack` in these versions, and each has to have the digest that is pinned here. Of d3 only those
functions are bundled that templates use; the outline of the land is that of Natural Earth (public domain), whose
TopoJSON becomes lists of steps of a tenth of a degree. What is made is pinned in `templates/views/shared/vendor/
vendor.json`, which a test holds against the files.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

VENDOR = Path(__file__).parents[1] / "templates/views/shared/vendor"
BUNDLER = "esbuild@0.28.0"
PACKAGES: Mapping[str, str] = {
    "d3-array@3.2.4": "6dbf3f2be39e48f86775be6e166a5d3e5a585ca7144453cd6ad1912f5ae4417f",
    "d3-dispatch@3.0.1": "3d1a0b5c003e0e9608ad57f6ca21a0c8368031fcbe5f5317fe4e50b3f797ea23",
    "d3-force@3.0.0": "deacfa7ecb466f88717fe1863347dd65e5a5422d9f8c893d771cb2a7f987fa15",
    "d3-geo@3.1.1": "fe1f2dd81a87d942790c5a7786f4aab03df2b357d46d8af56b613fb8a1bb9be5",
    "d3-quadtree@3.0.1": "d4145e9cecca8a6077e1099de96375ec9923b0de0df4004bd98aafa17c2d557f",
    "d3-timer@3.0.1": "05cdf901e1876a7f24f4c365a879252752e22e3cc52b131ca616639f07e8ed05",
    "internmap@2.0.3": "39d1936831a4d3f2bd6e088db28a10de4458d823f652c36b2c808bf5b978c48d",
    "world-atlas@2.0.2": "032e7765f2ce00edaeafec23ff22bc3b77e42987c257da944cc585b452c05b97",
}
"""The packages with the SHA-256 of what `npm pack` gives."""
BUNDLES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "d3-force": (
        'export {forceSimulation, forceLink, forceManyBody, forceX, forceY, forceCollide} from "d3-force"',
        ("d3-force", "d3-dispatch", "d3-quadtree", "d3-timer"),
    ),
    "d3-geo": (
        'export {geoPath, geoNaturalEarth1, geoMercator, geoGraticule} from "d3-geo"',
        ("d3-geo", "d3-array", "internmap"),
    ),
}
"""What is bundled, and of which packages; their licences stand at its head."""
STEP = 10
"""Steps to a degree."""


def main() -> int:
    """Make every script, and say how large it is."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for package, digest in PACKAGES.items():
            unpack(folder, package, digest)
        made = {f"{one}.js": bundle(folder, one, *parts) for one, parts in BUNDLES.items()}
        made["land.js"] = outline(folder)
        used = sorted({package for _, parts in BUNDLES.values() for package in parts} | {"world-atlas"})
        made |= {f"LICENSE-{one}.txt": read_licence(folder, one) for one in used}
    VENDOR.mkdir(parents=True, exist_ok=True)
    pinned: dict[str, Any] = {"packages": dict(PACKAGES), "bundler": BUNDLER, "files": {}}
    for file, text in sorted(made.items()):
        VENDOR.joinpath(file).write_text(text, encoding="utf-8", newline="\n")
        pinned["files"][file] = hashlib.sha256(text.encode()).hexdigest()
        sys.stdout.write(f"{file}: {len(text.encode()):,} bytes\n")
    VENDOR.joinpath("vendor.json").write_text(json.dumps(pinned, indent=2) + "\n", encoding="utf-8", newline="\n")
    return 0


def unpack(folder: Path, package: str, digest: str) -> None:
    """Get a package into the folder's `node_modules`; one of another digest is an error."""
    archive = folder / run(folder, "npm", "pack", "--silent", package).strip().splitlines()[-1]
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != digest:
        sys.exit(f"{package} has the digest {found}, and {digest} is pinned; look at what changed before you pin it")
    target = folder / "node_modules" / package.rpartition("@")[0]
    target.mkdir(parents=True)
    with tarfile.open(archive) as members:
        for member in members.getmembers():
            member.name = member.name.partition("/")[2]
            if member.name:
                members.extract(member, target, filter="data")


def run(folder: Path, *command: str) -> str:
    """What a command prints that is run in a folder."""
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)  # noqa: S603 - pinned above
    return done.stdout


def read_licence(folder: Path, package: str) -> str:
    """The text of a package's licence."""
    return (folder / "node_modules" / package / "LICENSE").read_text(encoding="utf-8").strip() + "\n"


def bundle(folder: Path, name: str, entry: str, packages: Sequence[str]) -> str:
    """One script of these packages with their licences at its head; what it exports is `d3`."""
    (folder / f"{name}.entry.js").write_text(entry, encoding="utf-8")
    command = [f"{name}.entry.js", "--bundle", "--minify", "--format=iife", "--global-name=d3", "--legal-comments=none"]
    made = run(folder, "npx", "--yes", BUNDLER, *command, "--charset=utf8", "--log-level=error")
    return f"/*\n{merge_licences(folder, packages)}*/\n{made}"


def merge_licences(folder: Path, packages: Sequence[str]) -> str:
    """The licences of packages: texts that differ in their first lines alone are told once."""
    heads: dict[str, list[str]] = {}
    for package in packages:
        notice, _, terms = read_licence(folder, package).partition("\n\n")
        heads.setdefault(terms, []).append(f"{package}: {' '.join(notice.split())}")
    return "\n".join("\n".join(notices) + "\n\n" + terms for terms, notices in heads.items())


def outline(folder: Path) -> str:
    """The land as a script: `land` is a geometry of GeoJSON."""
    atlas = json.loads((folder / "node_modules/world-atlas/land-110m.json").read_text(encoding="utf-8"))
    arcs = [list(decode(arc, atlas["transform"])) for arc in atlas["arcs"]]
    (geometry,) = atlas["objects"]["land"]["geometries"]
    polygons = [[to_steps(ring, arcs) for ring in polygon] for polygon in geometry["arcs"]]
    coded = json.dumps(polygons, separators=(",", ":"))
    licence = read_licence(folder, "world-atlas")
    return (
        f"/*\nThe land of Natural Earth (public domain), by world-atlas:\n{licence}*/\n"
        f"var land={{type:'MultiPolygon',coordinates:{coded}.map(p=>p.map(r=>{{let x=0,y=0,o=[];"
        f"for(let i=0;i<r.length;i+=2)o.push([(x+=r[i])/{STEP},(y+=r[i+1])/{STEP}]);return o}}))}};\n"
    )


def decode(arc: Sequence[Sequence[int]], transform: Mapping[str, Sequence[float]]) -> Iterator[tuple[float, float]]:
    """The degrees of an arc of TopoJSON, whose points are steps from the one before."""
    x = y = 0
    (scale_x, scale_y), (left, bottom) = transform["scale"], transform["translate"]
    for step_x, step_y in arc:
        x, y = x + step_x, y + step_y
        yield x * scale_x + left, y * scale_y + bottom


def to_steps(ring: Sequence[int], arcs: Sequence[Sequence[tuple[float, float]]]) -> list[int]:
    """A ring as steps of a tenth of a degree, each from the point before."""
    points: list[tuple[int, int]] = []
    for index in ring:
        arc = arcs[index] if index >= 0 else arcs[~index][::-1]
        for x, y in arc:
            point = round(x * STEP), round(y * STEP)
            if not points or points[-1] != point:
                points.append(point)
    steps, last = [], (0, 0)
    for point in points:
        steps += [point[0] - last[0], point[1] - last[1]]
        last = point
    return steps


if __name__ == "__main__":
    sys.exit(main())
