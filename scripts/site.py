"""Builds the documentation as a site: pages that are searched in the browser, each as Markdown too, and `llms.txt`.

`python scripts/site.py` writes `out/site/VERSION/` and what chooses between the versions that lie there. A link that
leads nowhere, a warning of the builder and anything that a page would load from elsewhere end it with exit code 1.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

import yaml
from lxml import html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
SPLIT = ("reference/tools.md", "reference/providers.md", "reference/capabilities.md")
"""Pages of many things that become a page each, so that a search finds the thing and a model reads a few kilobytes."""
GUIDES = "guide"
PICTURES = (".png", ".svg", ".webp")
"""How files end that pages show."""
LEFT_OUT = ("man/",)
LONGEST_SUMMARY = 240
"""Characters of a sentence that is told whole; a longer one ends at its first colon or semicolon."""
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_HEADING = re.compile(r"(#{1,6}) (.+)")
_LABEL = re.compile(r"\*\*\w+\.\*\* ")
_LINK = re.compile(r"\]\(([^()\s]+)\)")


class SiteError(Exception):
    """What keeps the site from being built, a line each."""


class Page(NamedTuple):
    """A page of the site: its Markdown, and the file of the checkout that it was made of."""

    text: str
    source: str

    @property
    def title(self) -> str:
        """The first heading, without its marks."""
        return next((plain(match[2]) for match in map(_HEADING.fullmatch, self.text.splitlines()) if match), "")

    @property
    def summary(self) -> str:
        """The first sentence of prose, without a label such as `**Decided.**` before it; "" if there is none."""
        for block in re.split(r"\n{2,}", re.sub(r"<!--.*?-->", "", self.text, flags=re.DOTALL)):
            if block.strip() and not block.lstrip().startswith(("#", "|", "```", "- ", ">", "!")):
                prose = plain(_LABEL.sub("", " ".join(block.split())))
                sentence = re.split(r"(?<=\.)\s", prose)[0]
                if len(sentence) > LONGEST_SUMMARY:
                    sentence = re.split(r"(?<=[:;])\s", sentence)[0]
                return sentence.rstrip(":;")
        return ""


def plain(text: str) -> str:
    """Inline Markdown as the words that are shown."""
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("`", "").replace("*", "").strip()


# --- Pages, and what their links mean ---------------------------------------------------------------------------------


def read_pages() -> dict[str, Page]:
    """All pages by their path in the site, with links that lead where their targets are there."""
    texts = {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))}
    texts = {name: text for name, text in texts.items() if not name.startswith(LEFT_OUT)}
    texts["changes.md"] = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    pages: dict[str, Page] = {}
    moved: dict[tuple[str, str], tuple[str, str]] = {}
    for name, text in texts.items():
        source = "CHANGELOG.md" if name == "changes.md" else f"docs/{name}"
        if name not in SPLIT:
            pages[name] = Page(text, source)
            continue
        first, parts = split(text)
        pages[name] = Page(first, source)
        for title, part in parts.items():
            child = f"{name.removesuffix('.md')}/{title}.md"
            pages[child] = Page(part, source)
            moved |= {(name, anchor): (child, anchor) for anchor in anchors(part)}
            moved[name, slug(title)] = (child, "")
    problems: list[str] = []
    found = {name: Page(rewrite(name, page, pages, moved, problems), page.source) for name, page in pages.items()}
    if problems:
        raise SiteError("\n".join(problems))
    return found


def split(text: str) -> tuple[str, dict[str, str]]:
    """What comes before the first heading of the second level, and a page for each of them, by its title."""
    parts: dict[str, list[str]] = {"": []}
    title = ""
    for line, in_code in lines_of(text):
        match = None if in_code else _HEADING.fullmatch(line)
        if match and match[1] == "##":
            title = plain(match[2])
            parts[title] = []
        parts[title].append(line[1:] if match and title else line)
    first = "\n".join(parts.pop(""))
    return first, {name: "\n".join(lines).strip() + "\n" for name, lines in parts.items()}


def lines_of(text: str) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it is code."""
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            yield line, True
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        else:
            fence = mark[1] if mark else ""
            yield line, bool(fence)


def slug(heading: str) -> str:
    """What a heading is called in an address, as forges and the site do it."""
    return re.sub(r"[^\w\- ]", "", plain(heading).lower()).replace(" ", "-")


def anchors(text: str) -> list[str]:
    """What can be linked in a page."""
    found = [_HEADING.fullmatch(line) for line, in_code in lines_of(text) if not in_code]
    return [slug(match[2]) for match in found if match]


def rewrite(
    name: str,
    page: Page,
    pages: Mapping[str, Page],
    moved: Mapping[tuple[str, str], tuple[str, str]],
    problems: list[str],
) -> str:
    """The text with links that lead where things are in the site; what is not in it is at its place of the release."""

    def follow(match: re.Match[str]) -> str:
        target = match[1]
        if urlsplit(target).scheme:
            return match[0]
        path, _, anchor = target.partition("#")
        whole = os.path.normpath(Path(page.source).parent / path) if path else page.source
        inside = "changes.md" if whole == "CHANGELOG.md" else whole.removeprefix("docs/")
        place = moved.get((inside, anchor), (inside, anchor))
        if not path and place[0] not in pages:
            place = (name, anchor)
        if place[0] in pages and (whole.startswith("docs/") or whole == "CHANGELOG.md"):
            to = os.path.relpath(place[0], Path(name).parent)
            if place[1] and place[1] not in anchors(pages[place[0]].text):
                problems.append(f"{page.source}: {target} leads to no heading of {place[0]}")
            return f"]({to if place[0] != name or not place[1] else ''}{'#' + place[1] if place[1] else ''})"
        if not (ROOT / whole).exists():
            problems.append(f"{page.source}: {target} leads to no file")
        if whole.startswith("docs/") and whole.endswith(PICTURES):
            return f"]({os.path.relpath(inside, Path(name).parent)})"
        kind = "tree" if (ROOT / whole).is_dir() else "blob"
        return f"]({PROJECT['urls']['Homepage']}/{kind}/v{version()}/{whole})"

    def outside_code(line: str) -> str:
        return "".join(
            part if part.startswith("`") else _LINK.sub(follow, part) for part in re.split(r"(`+[^`]*`+)", line)
        )

    return "\n".join(line if in_code else outside_code(line) for line, in_code in lines_of(page.text)) + "\n"


def version() -> str:
    """The version that is documented."""
    text = (ROOT / "engine/specloom/__init__.py").read_text(encoding="utf-8")
    match = re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE)
    assert match is not None
    return match[1]


# --- For models -------------------------------------------------------------------------------------------------------


def sections(pages: Mapping[str, Page]) -> dict[str, list[str]]:
    """The pages by the part of the site that they belong to, in the order of its menu."""
    beside = ("language.md", "architecture.md", "trust.md", "figures.md", "changes.md")
    reference = [name for name in pages if name.startswith("reference/")]
    children = [name for name in reference if name.count("/") > 1]

    def first(name: str) -> tuple[bool, str]:
        return not name.endswith("README.md"), name

    return {
        "Start": ["index.md"],
        "Guides": [name for name in pages if name.startswith(f"{GUIDES}/")],
        "Cookbook": sorted((name for name in pages if name.startswith("cookbook/")), key=first),
        "Reference": sorted(set(reference) - set(children), key=first),
        "About": [name for name in beside if name in pages],
        "Decisions": sorted((name for name in pages if name.startswith("decisions/")), key=first),
        "Single tools, providers and capabilities": children,
    }


def to_llms(pages: Mapping[str, Page], count: Callable[[str], int]) -> str:
    """The index for models: every page as Markdown, with what it says and what reading it costs."""
    lines = [f"# {PROJECT['name']}", "", f"> {PROJECT['description']}", ""]
    lines += [
        "Every page is there as Markdown; the numbers are tokens. `llms-full.txt` has the guides in one file.",
        "",
    ]
    for title, names in sections(pages).items():
        lines += [f"## {title}", ""]
        for name in names:
            page = pages[name]
            summary = f": {page.summary}" if page.summary else ""
            lines.append(f"- [{page.title}]({name}){summary} ({count(page.text):,})")
        lines.append("")
    return "\n".join(lines)


def to_full(pages: Mapping[str, Page]) -> str:
    """The first page, the guides and the language in one file."""
    names = [*sections(pages)["Start"], *sections(pages)["Guides"], "language.md"]
    return "\n\n".join(f"<!-- {name} -->\n\n{pages[name].text.strip()}" for name in names) + "\n"


# --- The site ---------------------------------------------------------------------------------------------------------


def to_settings(pages: Mapping[str, Page]) -> dict[str, Any]:
    """What the builder is told, in the words of MkDocs, which other builders read as well."""
    menu = sections(pages)
    children = menu.pop("Single tools, providers and capabilities")
    nav: list[dict[str, Any]] = [{"Start": "index.md"}]
    for title, names in menu.items():
        if title != "Start":
            nav.append({title: [{pages[name].title: name} for name in names]})
    return {
        "site_name": PROJECT["name"],
        "site_description": PROJECT["description"],
        "docs_dir": "pages",
        "site_dir": "site",
        "use_directory_urls": False,  # a page is a file that can be opened, with its Markdown beside it
        "theme": {
            "name": "material",
            "font": False,  # nothing is loaded from elsewhere
            "features": ["navigation.indexes", "navigation.top", "content.code.copy", "search.highlight"],
            "palette": [
                {
                    "media": f"(prefers-color-scheme: {scheme})",
                    "scheme": name,
                    "toggle": {"icon": f"lucide/{icon}", "name": f"Show {other} colours"},
                }
                for scheme, name, icon, other in (
                    ("light", "default", "sun", "dark"),
                    ("dark", "slate", "moon", "light"),
                )
            ],
        },
        "plugins": ["search"],
        "markdown_extensions": [
            "tables",
            "attr_list",
            "pymdownx.superfences",
            {"pymdownx.highlight": {"use_pygments": True}},
            {"toc": {"permalink": True, "slugify": "SLUGIFY"}},
        ],
        "extra": {"version": {"provider": "mike"}},
        "nav": nav,
        "not_in_nav": "\n".join(children),
    }


def build(folder: Path) -> list[str]:
    """Build the site of this version below a folder; the problems that were found."""
    from specloom.core import count_tokens

    pages = read_pages()
    work, target = folder / ".work", folder / version()
    shutil.rmtree(work, ignore_errors=True)
    shutil.rmtree(target, ignore_errors=True)
    for name, page in pages.items():
        path = work / "pages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page.text, encoding="utf-8")
    for path in DOCS.rglob("*"):
        if path.is_file() and path.suffix in PICTURES:
            to = work / "pages" / path.relative_to(DOCS)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, to)
    settings = yaml.safe_dump(to_settings(pages), sort_keys=False, allow_unicode=True)
    slugify = "!!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}"
    (work / "mkdocs.yml").write_text(settings.replace("SLUGIFY", slugify), encoding="utf-8")
    problems = run_builder(work)
    if not problems:
        shutil.move(work / "site", target)
        for name, page in pages.items():
            (target / name).write_text(page.text, encoding="utf-8")
        (target / "llms.txt").write_text(to_llms(pages, count_tokens), encoding="utf-8")
        (target / "llms-full.txt").write_text(to_full(pages), encoding="utf-8")
        problems = examine(target)
        write_versions(folder)
    shutil.rmtree(work, ignore_errors=True)
    return problems


def run_builder(work: Path) -> list[str]:
    """Run the builder over a folder with `mkdocs.yml`; its warnings."""
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False, timeout=300)  # noqa: S603
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    warnings = [line for line in said if re.search(r"(?i)\b(warning|error)\b", line)]
    return warnings or (said if done.returncode else [])


def write_versions(folder: Path) -> None:
    """Write what the pages choose a version from, and lead who asks for none to the newest."""
    found = sorted((path.name for path in folder.iterdir() if (path / "llms.txt").exists()), key=_order, reverse=True)
    rows = [{"version": name, "title": name, "aliases": ["latest"] if name == found[0] else []} for name in found]
    (folder / "versions.json").write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    page = f'<!doctype html><meta charset="utf-8"><title>{PROJECT["name"]}</title>'
    first = f"{found[0]}/index.html"
    page += f'<meta http-equiv="refresh" content="0; url={first}"><a href="{first}">{PROJECT["name"]}</a>\n'
    (folder / "index.html").write_text(page, encoding="utf-8")


def _order(name: str) -> list[tuple[int, int | str]]:
    return [(1, int(part)) if part.isdigit() else (0, part) for part in re.split(r"[.\-+]", name)]


def examine(target: Path) -> list[str]:
    """What is wrong with the pages: links to no page or to no part of it, and what would be loaded from elsewhere."""
    pages = {path: html.parse(str(path)).getroot() for path in sorted(target.rglob("*.html"))}
    parts = {
        path: {one.get("id") or one.get("name") for one in page.xpath("//*[@id or @name]")}
        for path, page in pages.items()
    }
    problems: list[str] = []
    for path, page in pages.items():
        if path.name == "404.html":
            continue  # its links are from the root of wherever it is shown
        shown = path.relative_to(target).as_posix()
        loaded = page.xpath("//script/@src | //img/@src | //link[not(@rel='canonical')]/@href | //iframe/@src")
        problems += [f"{shown}: {one} would be loaded from elsewhere" for one in loaded if urlsplit(one).netloc]
        for link in page.xpath("//a/@href"):
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            to = (path.parent / unquote(address.path)).resolve() if address.path else path
            if not to.exists():
                problems.append(f"{shown}: {link} leads to no page")
            elif address.fragment and to in parts and unquote(address.fragment) not in parts[to]:
                problems.append(f"{shown}: {link} leads to no part of its page")
    return problems


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--to", type=Path, default=ROOT / "out" / "site", help="the folder (default: out/site)")
    parser.add_argument("--check", action="store_true", help="only look whether all links lead somewhere")
    options = parser.parse_args(words)
    try:
        if options.check:
            read_pages()
            return 0
        problems = build(options.to)
    except SiteError as error:
        problems = str(error).splitlines()
    for problem in problems:
        print(problem, file=sys.stderr)  # noqa: T201
    if not problems:
        print(f"{options.to / version() / 'index.html'}")  # noqa: T201
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
