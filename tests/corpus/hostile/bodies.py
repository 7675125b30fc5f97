"""What a hostile server may answer: bodies of some 60 kB, made of one thing over and over."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, field

SIZE = 60_000
HTML = "text/html; charset=utf-8"


@dataclass(frozen=True)
class Body:
    """An answer, and the path under which it is asked for."""

    name: str
    kind: str
    data: bytes
    headers: dict[str, str] = field(default_factory=dict)


def repeat(unit: str, head: str = "", tail: str = "", size: int = SIZE) -> bytes:
    """A body of about that size: `unit` between a head and a tail."""
    return (head + unit * (size // max(1, len(unit.encode()))) + tail).encode("utf-8", "surrogatepass")


SIGNS = [
    "[",
    "]",
    "(",
    ")",
    "![",
    "](",
    "[a](",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "#",
    "# ",
    "> ",
    ">>",
    "`",
    "``` ",
    "~~~",
    "_",
    "*",
    "**a",
    "|",
    "|a",
    "|-|",
    "\\",
    "<",
    ">",
    "&",
    "&amp",
    "<!--",
    "<!",
    "<?",
    "$",
    "$$",
    "{",
    "}",
    "{{",
    "{%",
    "\n",
    " \n",
    "\n\n",
    "\t",
    " ",
    "\u00a0",
    "\u200b",
    "\u202e",
    "\u0301",
    "\U0001f600",
    "漢",
    "\x00",
    "\x1b",
    "\ufeff",
    "'",
    '"',
    "=",
    "=\n",
    "-\n",
    "---\n",
    ":",
    ": ",
    "http://a.b/ ",
    "a@b.c ",
    "10.1000/x ",
    "arXiv:2001.00001 ",
    "2020-01-01 ",
    "1.",
    "1,",
    "A. B. ",
    "-",
    "[^1]: ",
    "[1]",
    "<a",
    "</",
    "x",
]
FRONT = ["[", "{", "a: ", "- ", "&a *a ", "? ", "a:\n ", "!!x ", "'", '"', "|\n", "- &a [*a]\n", "#", "<<: *a\n"]
PAGES = {
    "div": "<div>",
    "span": "<span>a",
    "b": "<b>",
    "link": "<a href=x>y",
    "list": "<ul><li>x",
    "table": "<table><tr><td>",
    "quote": "<blockquote>q",
    "misnested": "<p><font><b><i>x",
    "crossed": "<b><p>x</b>",
    "paragraph": "<p>a",
    "break": "<br>",
    "rule": "<hr>",
    "cell": "<td>a",
    "row": "<table><tr><td>a",
    "colspan": "<table><tr><td colspan=1000>a<td colspan=1000>b",
    "rowspan": "<table><tr><td rowspan=65534 colspan=1000>a<tr><td rowspan=65534>b",
    "entity": "&#x1F600;",
    "form": "<form><input>",
    "option": "<select><option>x",
    "ticks": "<pre>```</pre>",
    "heading": "<h1>x</h1>",
    "term": "<dl><dt>a<dd>b",
    "details": "<details><summary>s",
    "footnote": "<a href=#f><sup>1</sup></a>",
    "anchor": "<a href=#f>1</a><p id=f>x",
    "labelled": "<div aria-labelledby='a b c d' id=a>x</div>",
    "hidden": "<div hidden>x",
    "code": "<code>`</code>",
    "article": "<article><p>x</article>",
    "ruby": "<ruby>a<rt>b",
    "math": "<math><mfrac><mi>a</mi>",
    "svg": "<svg><g>",
    "template": "<template>",
    "noscript": "<noscript><p>x</noscript>",
    "script": "<script>x</script>",
    "frame": "<iframe src=/x>",
    "image": "<img src=a.png alt=x>",
    "data": "<img src=data:image/png;base64,AAAA>",
    "meta": "<meta name=citation_author content='A B'>",
    "graph": "<meta property=og:image content='http://a/'>",
    "title": "<title>x</title>",
    "base": "<base href=/x/>",
    "microdata": "<div itemscope itemtype=http://schema.org/Article><i itemprop=name>x</i>",
    "itemref": "<div itemscope itemref='a b' id=a>",
    "style": "<p style='color:red;display:none'>x",
    "json": '<script type="application/ld+json">{"@type":"Article"}</script>',
    "comment": "<!-- x -->",
    "custom": "<x-a>",
    "time": "<time datetime=2020-01-01>x",
    "next": "<a rel=next href=/x>next</a>",
    "quotation": "<q>",
    "label": "<label for=a>x</label>",
}
SHEETS = {
    "classes": ".c{display:none}",
    "commas": "a,",
    "descendants": "div div div p.c{display:none}",
    "siblings": "p~p~p.c{display:none}",
    "has": "div:has(p):not(.c){display:none}",
    "nth": "p:nth-child(3n+1){display:none}",
    "media": "@media all{",
    "braces": "{",
    "comments": "/*",
    "imports": "@import url(x);",
    "quotes": "'",
    "escapes": "\\0",
}


def zipped(**files: bytes) -> bytes:
    """An archive as Office writes it."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/"), data)
    return target.getvalue()


def bodies() -> list[Body]:
    """All of them, each under a name of its own."""
    made = [Body(f"text {sign!r}", "text/plain", repeat(sign)) for sign in SIGNS]
    made += [Body(f"markdown {sign!r}", "text/markdown", repeat(sign)) for sign in SIGNS]
    made += [Body(f"front matter {sign!r}", "text/markdown", repeat(sign, "---\n", "\n---\ntext\n")) for sign in FRONT]
    made += [Body(f"page {name}", HTML, repeat(unit, "<html><body><p>Words.</p>")) for name, unit in PAGES.items()]
    sheet = "</style></head><body>" + "<div><p class=c>x</p></div>" * 600
    made += [Body(f"sheet {name}", HTML, repeat(unit, "<style>", sheet, 40_000)) for name, unit in SHEETS.items()]
    laughs = '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a0 "ha">'
    laughs += "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10)) + "]><r>&a9;</r>"
    item = "<item><title>x</title><link>http://a.b/</link></item>"
    made += [
        Body("xml laughs", "application/xml", laughs.encode()),
        Body("rss laughs", "application/rss+xml", laughs.replace("<r>", "<rss><channel>").encode()),
        Body("rss items", "application/rss+xml", repeat(item, "<rss><channel>", "</channel></rss>")),
        Body("atom deep", "application/atom+xml", repeat("<entry>", "<feed xmlns='http://www.w3.org/2005/Atom'>")),
        Body("json deep", "application/json", repeat("[")),
        Body("json deep objects", "application/json", repeat('{"a":')),
        Body("json wide", "application/json", repeat("1,", "[", "1]")),
        Body("json number", "application/json", repeat("9")),
        Body("json escapes", "application/json", repeat("\\u0000", '"', '"')),
        Body("pdf of nothing", "application/pdf", repeat("1 0 obj <</Kids [1 0 R]>> endobj\n", "%PDF-1.7\n")),
        Body("pdf of its own form", "application/pdf", repeat("/X0 Do ", "%PDF-1.4\n1 0 obj<</Type/XObject>>stream\n")),
        Body("docx of zeros", "application/zip", zipped(word__document=b"\0" * 50_000_000)),
        Body("docx of laughs", "application/zip", zipped(**{"word__document.xml": laughs.encode()})),
        Body("gzip of noise", HTML, b"\x1f\x8b" + bytes(range(256)) * 200, {"Content-Encoding": "gzip"}),
        Body("long header", HTML, b"<p>x", {"X-Long": "a" * 60_000}),
        Body("many links", HTML, b"<p>x", {"Link": "<http://a.b/>; rel=next, " * 2000}),
        Body("odd charset", "text/html; charset=" + "x" * 2000, repeat("\u00e9")),
        Body("utf-7", "text/html; charset=utf-7", repeat("+ADw-script+AD4-")),
        Body("utf-16", "text/html; charset=utf-16", ("<p>x" * 15_000).encode("utf-16")),
        Body("iso-2022", "text/html; charset=iso-2022-jp", b"\x1b$B" * 20_000),
        Body("robots", "text/plain", repeat("Disallow: /*a*a*a*a*$\n", "User-agent: *\n")),
    ]
    return made
