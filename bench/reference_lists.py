"""How many references of lists in plain words are judged as the same references in BibTeX.

    python bench/reference_lists.py ITEMS --styles FOLDER [--pandoc PROGRAM] [--wrong] [--only STYLE]

ITEMS is CSL-JSON of real works; pandoc writes them in ten styles of FOLDER, which are laid out as people paste them:
numbered in several ways, with hanging indents, with lines that are wrapped and not, with pages between. Every second
work loses its DOI. Both the BibTeX and the list are audited, with the registries played from the works; an entry is
right when what is told of it is the same. The works and the styles are not part of this repository.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import trust_replay
from trust import to_interval

from specloom.compiler.build import weave_from
from specloom.domains.trust.bibliography.csl import parse_item
from specloom.domains.trust.bibliography.entry import BibliographyEntry
from specloom.domains.trust.bibliography.formatting import render
from specloom.specs.library import shipped_root

COMPARED = ("exists", "flags", "titleMatch", "retractionStatus", "matchedTitle")


def _numbered(mark: str, *, width: int = 0, hang: int = 0, gap: str = "\n") -> Callable[[Sequence[str]], str]:
    """A layout: how each reference is marked, how wide its lines are, how far they hang, and what parts two."""

    def lay(references: Sequence[str]) -> str:
        parts = []
        for number, reference in enumerate(references, 1):
            text = mark.format(number) + reference
            lines = textwrap.wrap(text, width, subsequent_indent=" " * hang) if width else [text]
            parts.append("\n".join(lines))
        return gap.join(parts)

    return lay


def _paged(lay: Callable[[Sequence[str]], str], heading: str) -> Callable[[Sequence[str]], str]:
    """A layout with a heading before, and a page break with its number after every 23 lines."""

    def paged(references: Sequence[str]) -> str:
        lines = lay(references).split("\n")
        pages = ["\n".join(lines[at : at + 23]) for at in range(0, len(lines), 23)]
        return f"{heading}\n\n" + "\n".join(f"{page}\n{at + 11}" for at, page in enumerate(pages))

    return paged


STYLES: Mapping[str, tuple[str, tuple[Callable[[Sequence[str]], str], ...]]] = {
    "APA": ("apa", (_numbered(""), _numbered("", width=88, hang=4), _numbered("", width=80, gap="\n\n"))),
    "MLA": ("modern-language-association", (_numbered("", width=76, hang=5), _numbered("", gap="\n\n"))),
    "Chicago": ("chicago-author-date", (_numbered("", width=90, hang=3), _numbered("• "))),
    "Chicago notes": ("chicago-notes-bibliography", (_numbered("{}. ", width=84), _numbered(""))),
    "IEEE": ("ieee", (_numbered("[{}] "), _numbered("[{}] ", width=72, hang=4))),
    "Vancouver": (
        "american-medical-association",
        (_numbered("{}. "), _paged(_numbered("{}. ", width=80), "References")),
    ),
    "Harvard": ("harvard-cite-them-right", (_numbered("", width=86, gap="\n\n"), _numbered(""))),
    "ACS": ("american-chemical-society", (_numbered("({}) "), _numbered("({}) ", width=78))),
    "Nature": ("nature", (_numbered("{}.\t"), _numbered("{} ", width=82, hang=2))),
    "GB/T 7714": ("china-national-standard-gb-t-7714-2015-numeric", (_numbered("[{}] "), _numbered("[{}]", width=80))),
    "ISO 690": ("iso690-author-date-en", (_paged(_numbered("", width=84, hang=4), "## Bibliography"), _numbered(""))),
}


def write_out(items: Sequence[Any], style: Path, pandoc: str) -> dict[str, str]:
    """The items in a style by their ids, in the order of the style."""
    cited = {"references": items, "nocite": "@*", "csl": str(style)}
    run = subprocess.run(
        [pandoc, "--citeproc", "-f", "markdown", "-t", "json"],
        input=f"---\n{json.dumps(cited)}\n---\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    found: dict[str, str] = {}
    for block in json.loads(run.stdout)["blocks"]:
        for inner in block["c"][1] if block["t"] == "Div" else []:
            if inner["t"] == "Div":
                text = " ".join(_to_text(inner["c"][1]).split())
                # The layout numbers them itself.
                found[inner["c"][0][0].removeprefix("ref-")] = re.sub(
                    r"^(?:\[[0-9]+\]|\([0-9]+\)|[0-9]+\.?)\s*", "", text
                )
    return found


def _to_text(node: Any) -> str:
    if isinstance(node, list):
        return "".join(map(_to_text, node))
    if not isinstance(node, dict):
        return ""
    kind, content = node.get("t"), node.get("c")
    if kind == "Str":
        return str(content)
    if kind in ("Space", "SoftBreak", "LineBreak"):
        return " "
    if kind == "Quoted":
        return ("“{}”" if content[0]["t"] == "DoubleQuote" else "‘{}’").format(_to_text(content[1]))
    if kind in ("Link", "Span"):
        return _to_text(content[1])
    return _to_text(content)


def to_world(items: Sequence[Mapping[str, Any]]) -> trust_replay.World:
    """A registry that has the items."""
    records = {}
    for item in items:
        signed = item.get("author", ())
        people = [(name.get("family") or name.get("literal") or "", name.get("given", "")) for name in signed]
        records[str(item["DOI"]).lower()] = {
            "title": item["title"],
            "authors": people,
            "year": item["issued"]["date-parts"][0][0],
            **({"venue": item["container-title"]} if item.get("container-title") else {}),
        }
    return trust_replay.World(crossref=records)


def audit(model: Any, document: str, world: trust_replay.World) -> dict[str, Any]:
    """What the tool says of a document."""
    return asyncio.run(trust_replay.call(model, "audit_bibliography", {"bibliography": document}, world))


def main(arguments: Sequence[str]) -> int:
    """Print the share of each style."""
    parser = argparse.ArgumentParser(description="Reference lists in plain words against their BibTeX.")
    parser.add_argument("items", type=Path)
    parser.add_argument("--styles", type=Path, required=True)
    parser.add_argument("--pandoc", default="pandoc")
    parser.add_argument("--only", default="")
    parser.add_argument("--wrong", action="store_true")
    options = parser.parse_args(arguments)
    items = json.loads(options.items.read_text(encoding="utf-8"))
    world = to_world(items)
    cited = [{name: value for name, value in item.items() if name != "DOI" or at % 2} for at, item in enumerate(items)]
    for at, item in enumerate(cited):
        item["id"] = f"w{at:03}"
    model = weave_from([shipped_root()])[0]
    entries = [entry for item in cited if isinstance(entry := parse_item(item), BibliographyEntry)]
    told = audit(model, render(entries, "bibtex")[0], world)["entries"]
    truth = {entry["citeKey"]: entry for entry in told}
    print(f"{len(items)} works; {sum(entry['exists'] for entry in truth.values())} exist by their BibTeX")
    worst = 1.0
    for name, (style, layouts) in STYLES.items():
        if options.only and options.only != name:
            continue
        written = write_out(cited, options.styles / f"{style}.csl", options.pandoc)
        references, wanted = list(written.values()), [truth[key] for key in written]
        right = total = 0
        for layout in layouts:
            text = layout(references)
            told = audit(model, text, world)
            found = {entry["index"]: entry for entry in told["entries"]}
            total += len(truth)
            split = len(told["entries"]) + len(told.get("unreadable") or ())
            if split != len(truth) and options.wrong:
                print(f"  {name}: {split} references of {len(truth)}")
            for at, want in enumerate(wanted):
                have = found.get(at, {})
                if all(have.get(field) == want.get(field) for field in COMPARED):
                    right += 1
                elif options.wrong:
                    differs = [field for field in COMPARED if want.get(field) != have.get(field)]
                    print(f"  {name} {at}: {references[at][:150]!r}\n     read as {have.get('title')!r}")
                    print("     ", {field: (want.get(field), have.get(field)) for field in differs})
        low, high = to_interval(right, total)
        print(f"{name:14} {right}/{total} = {right / total:.3f} ({low:.3f} to {high:.3f})")
        worst = min(worst, right / total)
    return 0 if worst >= 0.97 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
