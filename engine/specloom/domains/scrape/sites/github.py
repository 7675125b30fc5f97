"""GitHub: the README of a repository with what is known of it, one file, or the files of a gist."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, Final

from specloom.core import Fault

from .site import Address, Route, Row, SitePage, cut, find_one, missing, or_none, to_fence

if TYPE_CHECKING:
    from specloom.plugins import Context


HOSTS: Final = frozenset({"github.com", "www.github.com", "gist.github.com"})
PROVIDER: Final = "github_content"
FILES: Final = "github_raw"
"""Who gives files without using up the allowance of questions."""

_OWNER: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")
_NAME: Final = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_GIST: Final = re.compile(r"[0-9a-f]{6,40}")
_OTHER_PAGES: Final = """
about account advisories apps blog business codespaces collections contact copilot customer-stories dashboard developer
edu enterprise enterprises events explore features gist gists git-guides help home issues join login logout marketplace
mcp mobile models new newsroom nonprofit notifications open-source orgs organizations partners plans premium-support
pricing pulls readme resources search security settings site sitemap solutions sponsors stars styleguide support team
teams topics trending users watching why-github
"""
_RESERVED: Final = frozenset(_OTHER_PAGES.split())
"""First segments of github.com that are no accounts."""

_LINES: Final = re.compile(r"#L(\d{1,7})(?:C\d{1,5})?(?:-L?(\d{1,7})(?:C\d{1,5})?)?$")
_MOST_LINES: Final = 400
_MARKDOWN: Final = frozenset({"md", "markdown", "mdown", "mkd"})
_PROSE: Final = _MARKDOWN | {"", "txt", "rst", "adoc", "asciidoc", "org"}
_BINARY: Final = """
png jpg jpeg gif webp ico bmp tif tiff avif heic psd pdf docx pptx xlsx odt zip gz tgz bz2 xz zst 7z rar tar jar war whl
exe dll so dylib a o bin class pyc wasm woff woff2 ttf otf eot mp3 mp4 m4a mov avi mkv webm ogg wav flac parquet npy npz
pkl sqlite db
"""
_NO_TEXT: Final = frozenset(_BINARY.split())
"""Ends of names of files that are no text; their pages are read like any page."""


def match(address: Address) -> Route | None:
    """Repositories, files at a branch, and gists; issues, wikis, folders and the rest are read like any page."""
    parts = address.parts
    if address.host == "gist.github.com":
        said = parts[-1] if len(parts) == 1 or (len(parts) == 2 and _OWNER.fullmatch(parts[0])) else ""
        return _route("gist", address, {"id": said}) if _GIST.fullmatch(said) else None
    if len(parts) < 2 or parts[0].lower() in _RESERVED or not _OWNER.fullmatch(parts[0]):
        return None
    names = {"owner": parts[0], "name": parts[1].removesuffix(".git")}
    if not _NAME.fullmatch(names["name"]):
        return None
    if len(parts) == 2:
        return _route("repository", address, names)
    if parts[2] in ("blob", "raw", "blame") and len(parts) > 4 and _ending(parts[-1]) not in _NO_TEXT:
        rest = parts[3:]
        return None if {".", ".."} & {*rest} else _route("file", address, names, rest)
    return None


def _route(kind: str, address: Address, names: dict[str, str], parts: tuple[str, ...] = ()) -> Route:
    return Route("github", kind, address.url, names, parts, fallback=address.url)


def _ending(name: str) -> str:
    return name.rpartition(".")[2].lower() if "." in name else ""


async def read(route: Route, context: Context, *, max_length: int) -> SitePage:
    """The page that the route names."""
    if route.kind == "gist":
        return await _read_gist(route, context, max_length)
    return await (_read_file if route.kind == "file" else _read_repository)(route, context, max_length)


async def _read_file(route: Route, context: Context, max_length: int) -> SitePage:
    full_name = f"{route.names['owner']}/{route.names['name']}"
    row = await find_one(context, "source_file", {**route.names, "path": list(route.parts)}, provider=FILES)
    if row is None:
        raise missing(f"The file {'/'.join(route.parts)} of {full_name} on GitHub")
    # What branch and what path is cannot be told apart from here; the name of the file can.
    ending = _ending(route.parts[-1])
    text, shortened = cut(row["text"].strip("\n"), max_length)
    content = text if ending in _PROSE else to_fence(text, ending)
    title = f"{full_name}: {route.parts[-1]}"
    named, lines = find_lines(route.url, row["text"])
    if lines:
        title = f"{title}, {named}"
        head = f"{named[0].upper()}{named[1:]} of the file, and then all of it:\n\n{to_fence(lines, ending)}\n\n"
        content, again = cut(head + content, max_length)
        shortened = shortened or again
    owner = (route.names["owner"],)
    return SitePage(
        content,
        title,
        "github",
        "github:raw",
        site="GitHub",
        authors=owner,
        truncated=shortened,
        is_markdown=ending in _MARKDOWN,
    )


def find_lines(url: str, text: str) -> tuple[str, str]:
    """How the lines that an address points to are called, and the lines; twice "" where it points to none."""
    found = _LINES.search(url)
    if found is None:
        return "", ""
    first, last = sorted((int(found[1]), int(found[2] or found[1])))
    lines = text.split("\n")[max(first - 1, 0) : last]
    named = f"line {first}" if first == last else f"lines {first} to {last}"
    return (named, "\n".join(lines[:_MOST_LINES])) if any(map(str.strip, lines)) else ("", "")


async def _read_gist(route: Route, context: Context, max_length: int) -> SitePage:
    rows = (await context.ask("gist", route.names, provider=PROVIDER)).rows
    if not rows:
        raise missing(f"The gist {route.names['id']}")
    rows.sort(key=lambda row: str(row["name"]))
    author = rows[0].get("author", "")
    title = rows[0].get("title") or (f"Gist by {author}" if author else f"Gist {route.names['id']}")
    blocks = [f"# {title}"]
    for row in rows:
        text = row.get("text") or ""
        prose = _ending(row["name"]) in _MARKDOWN
        blocks += [f"## {row['name']}", text.strip() if prose else to_fence(text, _ending(row["name"]))]
    content, shortened = cut("\n\n".join(filter(None, blocks)), max_length)
    return SitePage(
        content,
        title,
        "github",
        "github:gist-api",
        site="GitHub",
        authors=(author,) if author else (),
        published=rows[0].get("published_at", ""),
        truncated=shortened or any(row.get("truncated") for row in rows),
        is_markdown=True,
    )


async def _read_repository(route: Route, context: Context, max_length: int) -> SitePage:
    names = route.names
    full_name = f"{names['owner']}/{names['name']}"

    async def find_readme() -> tuple[Row | Fault | None, str]:
        """The README under its usual name, else under any; or the last fault; and how it was come by."""
        failed: Fault | None = None
        for provider, way in ((FILES, "github:raw"), (PROVIDER, "github:contents-api")):
            try:
                found = await find_one(context, "source_file", names, provider=provider)
            except Fault as fault:
                failed = fault
                continue
            if found is not None:
                return found, way
        return failed, "github:raw"

    async def find_owned() -> tuple[Row | None, Row | None]:
        row = await or_none(find_one(context, "repository", names, provider=PROVIDER))
        if row is None or not row.get("owner"):
            return row, None
        kind = "organization" if row.get("owner_kind") == "Organization" else "person"
        asked = {"handle": row["owner"], "kind": kind}
        return row, await or_none(find_one(context, "profile", asked, provider=PROVIDER))

    async def count(what: str) -> Row | None:
        return await or_none(find_one(context, "repository_count", {**names, "of": what}, provider=PROVIDER))

    (readme, way), (row, owner), contributors, releases, health = await asyncio.gather(
        find_readme(),
        find_owned(),
        count("contributors"),
        count("releases"),
        or_none(find_one(context, "repository_health", names, provider=PROVIDER)),
    )
    description = (row or {}).get("description", "")
    if isinstance(readme, dict):
        text = readme["text"].strip()
    elif row is not None:
        text = "\n\n".join(filter(None, (f"# {full_name}", description, "This repository has no README.")))
    else:
        raise readme or missing(f"The repository {full_name} on GitHub")
    content, shortened = cut(text, max_length)
    return SitePage(
        content,
        f"{full_name}: {description}" if description else full_name,
        "github",
        way,
        url=(row or {}).get("url", ""),
        site="GitHub",
        authors=(names["owner"],),
        published=(row or {}).get("pushed_at", ""),
        truncated=shortened,
        is_markdown=True,
        repository_signals=to_signals(row, owner, contributors, releases, health),
    )


_REPOSITORY: Final = {
    "stargazersCount": "stars",
    "forksCount": "forks",
    "openIssuesCount": "open_issues",
    "createdAt": "created_at",
    "pushedAt": "pushed_at",
    "archived": "archived",
    "disabled": "disabled",
    "fork": "fork",
    "license": "license",
    "topics": "topics",
}
_ACCOUNT: Final = {
    "login": "handle",
    "type": "kind",
    "createdAt": "joined_at",
    "publicRepos": "repositories",
    "followers": "followers",
    "isVerified": "verified",
}
_HEALTH: Final = {
    "healthPercentage": "percentage",
    "hasLicense": "has_license",
    "hasContributing": "has_contributing",
    "hasCodeOfConduct": "has_code_of_conduct",
    "hasReadme": "has_readme",
}


def to_signals(
    row: Row | None, owner: Row | None, contributors: Row | None, releases: Row | None, health: Row | None
) -> dict[str, Any] | None:
    """What speaks for or against a repository, in the contract's words; each part that is not known is left out."""
    said: dict[str, Any] = {}
    for key, words, part in (
        ("repo", _REPOSITORY, row),
        ("owner", _ACCOUNT, owner),
        ("community", _HEALTH, health),
    ):
        if part is not None:
            said[key] = {word: part[name] for word, name in words.items() if part.get(name) not in (None, [])}
    for key, part in (("contributorCount", contributors), ("releaseCount", releases)):
        if part is not None:
            said[key] = part["count"]
    return said or None
