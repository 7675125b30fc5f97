"""The text of a preprint: its HTML rendering by sections, or the LaTeX that its authors sent. Neither opens a PDF."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from specloom.faults import Fault

from .codes import Refusal
from .fetching import obtain
from .hosts import HOSTS, matches
from .journal import open_journal
from .refs import Ref, parse_entry_ref

if TYPE_CHECKING:
    from specloom.desk import Desk

RENDERINGS = "https://ar5iv.labs.arxiv.org/html/"
SOURCES = "https://export.arxiv.org/src/"

_HEADING = re.compile(r"(#{1,6}) +(.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LABEL = re.compile(r"\[[^\]\s]+\] +")
_LETTERS = re.compile(r"[^\W\d_]{2}")


async def paper_text(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """The sections of a preprint as Markdown, of bodies no more than `max_chars` characters in all."""
    ref, most = _preprint(given), given.get("max_chars")
    url = RENDERINGS + ref.value
    journal = open_journal(desk)
    with journal.session(ref):
        try:
            html = await obtain(desk, url, "ar5iv", accept="text/html, */*;q=0.1")
            title, sections = await _read(desk, ref, html.decode("utf-8", "replace"), url)
        except Refusal as refused:
            refusal = _told(ref, refused)
            journal.asked(ref, "ar5iv", refusal=refusal, capability="oa")
            raise refusal from None
        journal.asked(ref, "ar5iv", capability="oa", size=len(html))
    kept, truncated = cut(sections, most)
    return {
        "arxiv_id": ref.value,
        "source": "ar5iv",
        "title": title,
        "sections": kept,
        "char_count": sum(len(one["text"]) for one in kept),
        "truncated": truncated,
        "retrieved_from": url,
    }


async def paper_tex_source(desk: Desk, given: Mapping[str, Any]) -> dict[str, Any]:
    """The LaTeX of a preprint: its main file with what it takes in from others, cut to `max_chars` characters."""
    from .apart import read_source

    ref, most = _preprint(given), given.get("max_chars")
    url = SOURCES + ref.value
    journal = open_journal(desk)
    with journal.session(ref):
        try:
            bundle = await obtain(desk, url, "arxiv", accept="application/gzip, application/x-tar, */*;q=0.1")
            main, text = await read_source(bundle, apart=desk.is_live)
        except Refusal as refusal:
            journal.asked(ref, "arxiv", refusal=refusal, capability="oa")
            raise
        journal.asked(ref, "arxiv", capability="oa", size=len(bundle))
    kept = text if most is None else text[:most]
    return {
        "arxiv_id": ref.value,
        "main_file": main,
        "tex_source": kept,
        "char_count": len(kept),
        "truncated": len(kept) < len(text),
        "retrieved_from": url,
    }


def split_sections(markdown: str) -> tuple[str, list[dict[str, str]]]:
    """The first heading of the first level, and each heading below it with the text up to the next one.

    Text before any heading but the title stands under an empty one; a heading without text is kept where another
    follows on a level below it, because it says what that one belongs to.
    """
    title, fence = "", ""
    sections: list[tuple[int, str, list[str]]] = [(0, "", [])]
    for line in markdown.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or (mark[1].startswith(fence) and not line[mark.end() :].strip())):
            fence = "" if fence else mark[1]
        found = None if fence or mark else _HEADING.fullmatch(line)
        if found is None:
            sections[-1][2].append(line)
        elif len(found[1]) == 1 and not title:
            title = found[2].strip()
        else:
            sections.append((len(found[1]), found[2].strip(), []))
    told: list[dict[str, str]] = []
    for at, (level, heading, lines) in enumerate(sections):
        text = "\n".join(lines).strip()
        if text or (heading and at + 1 < len(sections) and sections[at + 1][0] > level):
            told.append({"heading": heading, "text": text})
    return title, told


def cut(sections: list[dict[str, str]], most: int | None) -> tuple[list[dict[str, str]], bool]:
    """The sections whose texts have `most` characters together, the last one cut; and whether any was lost."""
    if most is None:
        return sections, False
    kept: list[dict[str, str]] = []
    for one in sections:
        if most <= 0:
            return kept, True
        kept.append({**one, "text": one["text"][:most]})
        if len(one["text"]) > most:
            return kept, True
        most -= len(one["text"])
    return kept, False


def _preprint(given: Mapping[str, Any]) -> Ref:
    ref = parse_entry_ref(given["ref"])
    if ref.kind != "arxiv":
        raise Refusal(
            "NOT_IMPLEMENTED", f"{ref.value} is a DOI, and only preprints of arXiv have a text here; give its arXiv id."
        )
    return ref


async def _read(desk: Desk, ref: Ref, html: str, url: str) -> tuple[str, list[dict[str, str]]]:
    try:
        page = await desk.run("read_markup", {"html": html, "url": url})
    except Fault as fault:
        raise Refusal("TEXT_UNAVAILABLE", f"The rendering of {ref.value} cannot be read: {fault.message}") from None
    title, sections = split_sections(page["content"])
    if not any(_LETTERS.search(one["text"]) for one in sections):
        raise Refusal("TEXT_UNAVAILABLE", f"ar5iv has a page for {ref.value}, and there is no text on it.")
    return title or _LABEL.sub("", page["title"], count=1), sections


def _told(ref: Ref, refusal: Refusal) -> Refusal:
    """A paper that was not rendered is sent on to its abstract, which is another host."""
    denial = refusal.denial or {}
    if denial.get("reason") == "redirect_not_in_allowlist" and matches(str(denial.get("attempted")), HOSTS["arxiv"]):
        return Refusal("NOT_FOUND", f"ar5iv has no rendering of {ref.value}.")
    return refusal
