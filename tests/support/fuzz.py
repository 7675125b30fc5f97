"""Malformed pages and documents without end, read in a process that has little memory and little time for each.

`python -m tests.support.fuzz KIND --seconds 600` looks for what breaks a reader: an exception that is no fault, a
crash, a case that takes too long, memory that grows from case to case. Every case is made from its number alone, so
`python -m tests.support.fuzz KIND --first NUMBER --count 1` repeats one. Lines of JSON tell what was found.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import io
import json
import random
import sys
import time
import traceback
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from tests.support.rich_documents import SEEDS

MEMORY = 1536 * 1024 * 1024
"""Bytes of address space for the whole run."""
PATIENCE = 20.0
"""Seconds for one case; the limits of the readers are a fraction of it."""
GROWTH = 96 * 1024
"""KiB that the process may grow by after its first cases."""
WARM = 300

_TAGS = """
a article aside b base blockquote body br button caption center code col dd details div dl dt em fieldset figure font
footer form frameset h1 h2 h6 head header hr html i iframe img input ins label li link main math meta nav noscript
object ol option p picture plaintext pre ruby rt script section select small span strong style sub summary svg table
tbody td template textarea tfoot th thead time title tr u ul video wbr x-card
"""
_NAMES = """
class id style href src content property name itemprop itemtype datetime hidden aria-hidden colspan rowspan start value
lang dir type http-equiv charset alt title rel role data-x onclick
"""
TAGS = _TAGS.split()
NAMES = _NAMES.split()
VALUES = (
    "", "display:none", "position:absolute;left:-9999px", "color:#fff;background:#fff", "font-size:0", "99999999999",
    "-1", "0", "NaN", "javascript:alert(1)", "data:text/html,x", "//x", "http://[", "https://example.org/a b", "#",
    "comment entry-content sidebar ad", "og:title", "article:published_time", "citation_doi", "2024-13-45T99:99:99Z",
    "10.1000/x.1", "application/ld+json", "refresh", "text/html; charset=utf-16", "shift_jis", "en-", "é\u202e\u0000x",
    "a" * 3000, "{" * 200, "url(" * 50,
)  # fmt: skip
TEXTS = (
    "word", " ", "\n", "Otters eat fish every day, and where there are few of them they turn to crabs and frogs. ",
    "&amp;", "&#x0;", "&#99999999;", "&notit", "&", "<", ">", "]]>", "<!--", "-->", "<![CDATA[", "<?xml", "\u0000",
    "\u200b\u200d", "\ufeff", "\ud7ff", "窯は夜明けに", "می‌خواهم",
    "$$x^2$$", "\\(a\\)", "|", "```", "# ", "* ", "[x](y)",
    "display:none", '{"@type": "Article", "articleBody": "x"}', "[" * 300, "10.1000/abc.", "\t\t", "x" * 2000,
)  # fmt: skip
SMALL_PAGE = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Firing a kiln</title><base href="/a/">'
    '<script type="application/ld+json">{"@context":"https://schema.org","@type":"NewsArticle","headline":"Firing",'
    '"author":{"name":"Ann"},"datePublished":"2024-05-07"}</script><style>.x{display:none}#y>p{color:white}</style>'
    '<meta property="og:title" content="Firing"></head><body><nav><a href="/">Home</a></nav><article><h1>Firing</h1>'
    "<p>The kiln was lit at dawn, and for nine hours the potter fed it with <b>split</b> <a href='pine'>pine</a>.</p>"
    "<ul><li>one<ul><li>two</li></ul></li></ul><table><tr><th>a<th colspan=2>b<tr><td rowspan=2>1<td>2<td>3</table>"
    "<pre><code>def fire():\n    return 1</code></pre><blockquote>said</blockquote><p class=x>hidden</p>"
    "<math><mi>x</mi></math><img src=a.png alt=A></article><footer>2024</footer></body></html>"
)
KINDS = ("html", *SEEDS)
PIECES = [
    b"0",
    b"-1",
    b"99999999999",
    b"<<",
    b">>",
    b"[",
    b"(",
    b"\x00",
    b"\xff" * 4,
    b" 0 R ",
    b"obj",
    b"stream\n",
    b"<",
    b'"',
]


def make(kind: str, number: int) -> bytes:
    """The case of a number."""
    chance = random.Random(f"{kind} {number}")
    if kind == "html":
        made = _make_html(chance) if chance.random() < 0.6 else damage(SMALL_PAGE.encode(), chance)
        return damage(made, chance) if chance.random() < 0.2 else made
    body = SEEDS[kind]
    if kind == "pdf":
        return damage(_repack_streams(body, chance) if chance.random() < 0.3 else body, chance)
    return _damage_parts(body, chance) if chance.random() < 0.7 else damage(_repack(body), chance)


def damage(body: bytes, chance: random.Random) -> bytes:
    """The bytes with some of them changed, doubled, cut out, moved or replaced by what parsers stumble over."""
    data = bytearray(body)
    for _ in range(chance.choice((1, 2, 3, 8, 30))):
        at, size = chance.randrange(len(data) + 1), chance.choice((1, 4, 16, 60))
        action = chance.randrange(7)
        if action == 0:
            data[at : at + 1] = bytes([chance.randrange(256)])
        elif action == 1:
            del data[at : at + size]
        elif action == 2 and len(data) < 2_000_000:
            data[at:at] = data[at : at + size] * chance.choice((1, 3, 50, 2000))
        elif action == 3:
            data[at:at] = chance.choice(PIECES)
        elif action == 4:
            to = chance.randrange(len(data) + 1)
            data[to : to + size] = data[at : at + size]
        elif action == 5 and data:
            data[at % len(data)] ^= 1 << chance.randrange(8)
        elif action == 6:
            digits = [place for place, byte in enumerate(data) if 48 <= byte <= 57]
            if digits:
                data[chance.choice(digits)] = 48 + chance.randrange(10)
    return bytes(data)


def _make_html(chance: random.Random) -> bytes:
    parts: list[str] = []
    opened: list[str] = []
    for _ in range(chance.choice((5, 20, 40, 40, 100, 100, 400))):
        dice = chance.random()
        if dice < 0.45:
            tag = chance.choice(TAGS)
            said = "".join(
                f" {chance.choice(NAMES)}={chance.choice(chr(34) + chr(39) + ' ')}{chance.choice(VALUES)}"
                for _ in range(chance.choice((0, 0, 1, 2, 6)))
            )
            times = chance.choice((*(1,) * 60, 40, 900))
            parts.append(f"<{tag}{said}{chance.choice(('>', '>', '>', '/>', '', ' >'))}" * times)
            opened.append(tag)
        elif dice < 0.65:
            parts.append(f"</{opened.pop() if opened and chance.random() < 0.6 else chance.choice(TAGS)}>")
        else:
            parts.append(chance.choice(TEXTS) * chance.choice((1, 1, 2, 20)))
    return "".join(parts).encode(chance.choice(("utf-8", "utf-16", "utf-8", "latin-1")), "replace")


def _damage_parts(body: bytes, chance: random.Random) -> bytes:
    """An archive that is sound, with parts that are not."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as old, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        for name in names:
            dice = chance.random()
            if dice < 0.05:
                continue
            part = old.read(chance.choice(names)) if dice < 0.1 else old.read(name)
            if dice < 0.6:
                part = _repeat_tags(part, chance) if chance.random() < 0.3 else damage(part, chance)
            new.writestr(_to_entry(name), part)
    return packed.getvalue()


def _repack(body: bytes) -> bytes:
    """The same archive, whenever it is made."""
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as old, zipfile.ZipFile(packed, "w") as new:
        for name in old.namelist():
            new.writestr(_to_entry(name), old.read(name))
    return packed.getvalue()


def _to_entry(name: str) -> zipfile.ZipInfo:
    """An entry without the time at which it was made, so that a case is the same tomorrow."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _repeat_tags(part: bytes, chance: random.Random) -> bytes:
    """XML in which one tag stands so often that it nests, or fills the part."""
    starts = [at for at, byte in enumerate(part) if byte == 60]
    if not starts:
        return part
    at = chance.choice(starts)
    end = part.find(b">", at) + 1 or len(part)
    return part[:end] + part[at:end] * chance.choice((5, 300, 20_000)) + part[end:]


def _repack_streams(body: bytes, chance: random.Random) -> bytes:
    """A PDF whose streams are compressed, so that damage reaches the filters as well."""
    out, at = bytearray(), 0
    while (start := body.find(b"stream\n", at)) >= 0 and (end := body.find(b"\nendstream", start)) >= 0:
        packed = zlib.compress(body[start + 7 : end] * chance.choice((1, 1, 400)))
        head = body[at:start].replace(b">>", b"/Filter /FlateDecode >>", 1) if chance.random() < 0.7 else body[at:start]
        out += head + b"stream\n" + packed
        at = end
    return bytes(out + body[at:])


def read_html(body: bytes) -> None:
    """What a page goes through."""
    from specloom.domains.scrape.extract import extract

    extract(body, url="https://example.org/a", content_type="text/html").markdown.encode("utf-8")


def read_document(body: bytes) -> None:
    """What a document goes through; that it is refused is as good as that it is read."""
    from specloom.core.faults import Fault
    from specloom.domains.scrape.documents.document import Limits
    from specloom.domains.scrape.documents.read import read

    limits = Limits(pages=50, text=200_000, seconds=5, entries=200, entry_bytes=4_000_000, total_bytes=8_000_000)
    with contextlib.suppress(Fault):
        read(body, "", "", limits=limits).text.encode("utf-8")


def run(kind: str, first: int, count: int, seconds: float, keep: Path | None = None) -> int:
    """Read cases one after the other until their number or the time is over; how many broke something."""
    reader: Callable[[bytes], None] = read_html if kind == "html" else read_document
    began, broken, before, number = time.monotonic(), 0, 0, first
    slowest = (0.0, first)
    while number < first + count and time.monotonic() - began < seconds:
        body = make(kind, number)
        if keep is not None:
            (keep / f"{kind}.last").write_bytes(body)
        tell(kind=kind, at=number, kib=memory()) if (number - first) % 500 == 0 else None
        faulthandler.dump_traceback_later(PATIENCE, exit=True, file=sys.__stderr__)
        start = time.monotonic()
        try:
            reader(body)
        except BaseException as error:
            broken += 1
            where = traceback.extract_tb(error.__traceback__)[-1]
            tell(kind=kind, broke=number, error=repr(error)[:200], at=f"{Path(where.filename).name}:{where.lineno}")
            if keep is not None:
                (keep / f"{kind}-{number}").write_bytes(body)
        faulthandler.cancel_dump_traceback_later()
        slowest = max(slowest, (time.monotonic() - start, number))
        number += 1
        if number - first == WARM:
            before = memory()
    grown = memory() - before if before else 0
    if grown > GROWTH:
        broken += 1
    tell(kind=kind, cases=number - first, broken=broken, slowest=[round(slowest[0], 2), slowest[1]], grown_kib=grown)
    return broken


def memory() -> int:
    """The KiB that this process holds now."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def tell(**said: object) -> None:
    """One line of JSON."""
    print(json.dumps(said), flush=True)


def main() -> int:
    """Bound this process, and run."""
    import resource

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=10**9)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return min(run(given.kind, given.first, given.count, given.seconds, given.keep), 100)


if __name__ == "__main__":
    sys.exit(main())
