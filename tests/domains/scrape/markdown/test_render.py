"""Elements become Markdown that has the structure of the page and no other."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.scrape.html.parse import parse
from specloom.domains.scrape.html.sanitise import sanitise
from specloom.domains.scrape.markdown.render import render
from specloom.domains.scrape.markdown.walk import Links, MarkdownWriter

BASE = "https://example.org/docs/page?x=1"


def md(html: str, base: str = BASE) -> str:
    return render([parse(html)], base=base)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
        ("<div>one<div>two</div>three</div>", "one\n\ntwo\n\nthree"),
        ("<p>a<br>b<br/>c</p>", "a\nb\nc"),
        ("<p>a<br><br>b</p>", "a\n\nb"),
        ("<p>a\n  b\tc&nbsp;d</p>", "a b c d"),
        ("<span>a</span><div>b</div><span>c</span>", "a\n\nb\n\nc"),
        ("a<hr>b<hr><hr>c", "a\n\n---\n\nb\n\n---\n\nc"),
        ("<section>a<article>b</article></section><footer>c</footer>", "a\n\nb\n\nc"),
        ("<details><summary>More</summary>inside</details>", "More\n\ninside"),
        ("<figure><img alt='A map' src=/m.png><figcaption>Where</figcaption></figure>",
         "![A map](https://example.org/m.png)\n\nWhere"),
        ("<fieldset><legend>Name</legend>text</fieldset>", "Name\n\ntext"),
        ("<center>a</center><address>b</address>", "a\n\nb"),
        ("<p>co&shy;op</p>", "co\u00adop"),
        ("", ""),
    ],
)  # fmt: skip
def test_blocks_are_parted_and_words_are_not_glued(html: str, text: str) -> None:
    assert md(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h1>One</h1><h6>Six</h6>", "# One\n\n###### Six"),
        ("<h2>\n a <b>bold</b> <em>title</em>\n</h2>", "## a bold title"),
        ("<h2><a href='/x'>linked</a></h2>", "## [linked](https://example.org/x)"),
        ("<h2>title <a href='#title'>#</a></h2>", "## title"),
        ("<h2><a href='#t' class=anchor>¶</a>title</h2>", "## title"),
        ("<h2><div>in a</div><div>box</div></h2>", "## in a box"),
        ("<h2><p>para</p></h2>", "## para"),
        ("<h2>one<br>line</h2>", "## one line"),
        ("<h1>open<p>text</p></h1>more", "# open\n\ntext\n\nmore"),
        ("<h1>open<h2>next</h2>text", "# open\n\n## next\n\ntext"),
        ("<h3></h3><h3> </h3>x", "x"),
        ("<h3><button aria-expanded=false>What is it?</button></h3>", "### What is it?"),
        ("<button><h4>Opens</h4></button><button>Buy</button>", "#### Opens"),
        ("<a href=/x><h3>Card</h3><p>about it</p></a>", "### [Card](https://example.org/x)\n\nabout it"),
        ("<ul><li><h3>Card</h3><p>text</p></li><li><h3>Next</h3></li></ul>", "### Card\n\ntext\n\n### Next"),
    ],
)
def test_headings(html: str, text: str) -> None:
    assert md(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("<ul>\n<li> a\n<li><p>b</p>\n</ul>after", "- a\n- b\n\nafter"),
        ("<ol><li>a<li>b</ol>", "1. a\n2. b"),
        ("<ol start=7><li>a<li value=20>b<li>c</ol>", "7. a\n20. b\n21. c"),
        ("<ol reversed><li>a<li>b</ol>", "2. a\n1. b"),
        ("<ol start=x><li>a</ol>", "1. a"),
        ("<ul><li>a<ul><li>b<ul><li>c</ul></ul><li>d</ul>", "- a\n  - b\n    - c\n- d"),
        ("<ol><li>a<ul><li>b</ul></ol>", "1. a\n   - b"),
        ("<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>", "- a\n- b\n- c"),
        ("<ul><li><p>a</p><p>b</p></li><li>c</li></ul>", "- a\n\n  b\n- c"),
        ("<ul><li></li><li> </li><li>a</li></ul>", "- a"),
        ("<ul><li><input type=checkbox checked> done<li><input type=checkbox> open</ul>", "- [x] done\n- [ ] open"),
        ("<li>a</li><li>b</li>", "- a\n- b"),
        ("<p>x</p><ul><li>a</ul><p>y</p>", "x\n\n- a\n\ny"),
        ("<ul><li>a<blockquote>q</blockquote>b</ul>", "- a\n\n  > q\n\n  b"),
        ("<dl><dt>Term</dt><dd>What it is</dd><dt>Next</dt><dd>That</dd></dl>",
         "Term\n: What it is\n\nNext\n: That"),
        ("<dl><dt>f()</dt><dd><p>Runs.</p><pre>f()\n  g()</pre></dd></dl>", "f()\n\nRuns.\n\n```\nf()\n  g()\n```"),
    ],
)  # fmt: skip
def test_lists(html: str, text: str) -> None:
    assert md(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<blockquote>a<br>b</blockquote>", "> a\n> b"),
        ("<blockquote><p>a</p><p>b</p></blockquote>c", "> a\n>\n> b\n\nc"),
        ("<blockquote>a<blockquote>b</blockquote></blockquote>", "> a\n>\n> > b"),
        ("<blockquote>a</blockquote><blockquote>b</blockquote>", "> a\n\n> b"),
        ("<blockquote><ul><li>a<li>b</ul></blockquote>", "> - a\n> - b"),
        ("<blockquote> </blockquote>x", "x"),
    ],
)
def test_quotes(html: str, text: str) -> None:
    assert md(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("a <b>b</b> <strong>c</strong> d", "a **b** **c** d"),
        ("a<i> b </i>c", "a *b* c"),
        ("<b>a <i>b</i></b>", "**a *b***"),
        ("<b><b>a</b></b>", "**a**"),
        ("<b></b><i> </i>a", "a"),
        ("<b>a<div>b</div>c</b>", "**a**\n\n**b**\n\n**c**"),
        ("<b><div>a</div></b>", "**a**"),
        ("<b><i><b>a</b> b</i></b>", "***a b***"),
        ("<del>old</del> new", "~~old~~ new"),
        ("<q>said</q>", "“said”"),
        ("a <q></q>b", "a b"),
        ("10<sup>6</sup> m<sup>2</sup> 1<sup>st</sup> cm<sup>-1</sup>", "10^6 m^2 1st cm^-1"),
        ("H<sub>2</sub>O and word<sup>[3]</sup>", "H2O and word[3]"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>", "漢(kan)"),
        ("long<wbr>word", "longword"),
        ("<img class=emoji alt='🎉' src=x.png> done", "🎉 done"),
        ("<img alt='' src=x.png><img src=y.png>text", "text"),
        (
            "<img alt='late [1]' src='data:image/gif;base64,AA' data-src='/l.png'>",
            "![late (1)](https://example.org/l.png)",
        ),
        ("<code>x = 1</code> and <kbd>Ctrl</kbd>", "`x = 1` and `Ctrl`"),
        ("<code>a`b</code>", "`` a`b ``"),
        ("<code>  </code>x", "x"),
    ],
)
def test_inline(html: str, text: str) -> None:
    assert md(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<a href='https://example.com/a?b=c#d'>x</a>", "[x](https://example.com/a?b=c#d)"),
        ("<a href='/a'>x</a>", "[x](https://example.org/a)"),
        ("<a href='b'>x</a>", "[x](https://example.org/docs/b)"),
        ("<a href='../b'>x</a>", "[x](https://example.org/b)"),
        ("<a href='/a/../b'>x</a>", "[x](https://example.org/b)"),
        ("<a href='//example.net/'>x</a>", "[x](https://example.net/)"),
        ("<a href='?y=2'>x</a>", "[x](https://example.org/docs/page?y=2)"),
        ("<a href=' \n/a b\n'>x</a>", "[x](https://example.org/a%20b)"),
        ("<a href='/F(x)'>x</a>", "[x](https://example.org/F(x))"),
        ("<a href='/F)x'>x</a>", "[x](https://example.org/F%29x)"),
        ("<a href='/a|b\"<>`'>x</a>", "[x](https://example.org/a%7Cb%22%3C%3E%60)"),
        ("<a href='https://example.com/'>https://example.com/</a>", "https://example.com/"),
        ("<a href='/a'><img alt='pic' src='/p.png'></a>", "[![pic](https://example.org/p.png)](https://example.org/a)"),
        ("<a href='/a'>a [b] c</a>", "[a [b] c](https://example.org/a)"),
        ("<a href='/a'>a ] c</a>", "[a \\] c](https://example.org/a)"),
        ("<a href='/a'> x </a>y", "[x](https://example.org/a) y"),
        ("<a href='/a'></a>x", "x"),
        ("<a href='#part'>x</a>", "x"),
        ("<a href='page?x=1#part'>x</a>", "x"),
        ("<a href='?utm_source=a&utm_medium=b'>x</a>", "x"),
        ("<a href='javascript:alert(1)'>x</a>", "x"),
        ("<a href=' java\nscript:alert(1)'>x</a>", "x"),
        ("<a href='\x01javascript:alert(1)'>x</a>", "x"),
        ("<a href='JAVASCRIPT&colon;alert(1)'>x</a>", "x"),
        ("<a href='vbscript:x'>x</a><a href='data:text/html,x'>y</a>", "xy"),
        ("<a href='mailto:someone'>x</a> <a href='tel:1'>y</a>", "x y"),
        ("<a href='file:///etc/passwd'>x</a>", "x"),
        ("<a href='http://[bad'>x</a>", "x"),
        ("<a href='https:'>x</a>", "x"),
        ("<a name=here>x</a>", "x"),
        ("<a href='/a'>x</a><a href='/b'>y</a>", "[x](https://example.org/a) [y](https://example.org/b)"),
        ("<a href='/a'><div>x</div><div>y</div></a>", "[x](https://example.org/a)\n\ny"),
    ],
)
def test_links(html: str, text: str) -> None:
    assert md(html) == text


def test_without_a_base_relative_links_keep_their_text() -> None:
    assert md("<a href='/a'>x</a> <a href='https://example.com/'>y</a>", base="") == "x [y](https://example.com/)"


@pytest.mark.parametrize("base", ["ftp://example.org/", "nonsense", "javascript:x", "http://"])
def test_a_base_that_is_no_page_resolves_nothing(base: str) -> None:
    assert Links(base).resolve("/a") == ""


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<pre>\nif x:\n    y()\n\n\tz\n</pre>", "```\nif x:\n    y()\n\n\tz\n```"),
        ("<pre><code class='language-python hljs'>x</code></pre>", "```python\nx\n```"),
        ("<pre class='brush: js'>x</pre>", "```js\nx\n```"),
        ("<div class='highlight-rust notranslate'><div class=highlight><pre>x</pre></div></div>", "```rust\nx\n```"),
        ("<div class='highlight highlight-source-shell'><pre>x</pre></div>", "```shell\nx\n```"),
        ("<pre data-lang=Go>x</pre>", "```go\nx\n```"),
        ("<pre><code class=language-none>x</code></pre>", "```\nx\n```"),
        ("<pre>a<br>b</pre>", "```\na\nb\n```"),
        ("<pre><div>a</div><div>  b</div></pre>", "```\na\n  b\n```"),
        ("<pre><code><span class=line>a</span><span class=line>  b</span></code></pre>", "```\na\n  b\n```"),
        ("<pre><code><span class=line>a</span>\n<span class=line>  b</span></code></pre>", "```\na\n  b\n```"),
        ("<pre><span class=lineno>1 </span>a\n<span class=lineno>2 </span>b</pre>", "```\na\nb\n```"),
        ("<pre><div><span>1</span><div>a</div></div><div><span>2</span><div>b</div></div></pre>", "```\na\nb\n```"),
        ("<pre>x = <span>1</span>\n<span>3</span> + 4</pre>", "```\nx = 1\n3 + 4\n```"),
        ("<pre><button>Copy</button>a<span class='btn-copy'>Copy</span></pre>", "```\na\n```"),
        ("<pre>a\n```\nb</pre>", "````\na\n```\nb\n````"),
        ("<pre># no heading\n- no list &lt;b&gt; *x*</pre>", "```\n# no heading\n- no list <b> *x*\n```"),
        ("<pre>  \n\n</pre>x", "x"),
        ("<code>a<br>b</code>", "```\na\nb\n```"),
        ("<code><pre>a\n b</pre></code>", "```\na\n b\n```"),
        ("<ul><li>a<pre>b\n  c</pre></ul>", "- a\n\n  ```\n  b\n    c\n  ```"),
    ],
)
def test_code(html: str, text: str) -> None:
    assert md(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<math alttext='E=mc^2'><mi>E</mi></math>", "$E=mc^2$"),
        ("<math display=block><semantics><mi>x</mi><annotation encoding='application/x-tex'>{\\displaystyle x^2}"
         "</annotation></semantics></math>", "$$x^2$$"),
        ("<math><mfrac><mi>a</mi><mn>12</mn></mfrac><mo>=</mo><msup><mi>x</mi><mrow><mi>n</mi><mo>+</mo><mn>1</mn>"
         "</mrow></msup></math>", "a/12 = x^(n + 1)"),
        ("<math><msqrt><msub><mi>x</mi><mn>1</mn></msub></msqrt></math>", "√(x_1)"),
        ("<img class='mwe-math-fallback-image-inline' alt='{\\displaystyle y}' src=y.svg>", "$y$"),
        ("<span class=MathJax>glyphs</span><span class='math-tex'>x</span>", "$x$"),
        ("<span class='math-tex display'>x</span>y", "$$x$$\n\ny"),
        ("<span class=katex><span class=katex-html aria-hidden=true><span>x</span>+1</span></span>", "x+1"),
    ],
)  # fmt: skip
def test_formulas(html: str, text: str) -> None:
    assert md(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p># no heading", "\\# no heading"),
        ("<p>#hashtag and 5 # 6", "#hashtag and 5 # 6"),
        (
            "<p>- no item<p>+ none<p>* none<p>-1 degree<p>– dash",
            "\\- no item\n\n\\+ none\n\n\\* none\n\n-1 degree\n\n– dash",
        ),
        (
            "<p>1. no item<p>1) none<p>1.5 metres<p>2024. Year",
            "1\\. no item\n\n1\\) none\n\n1.5 metres\n\n2024\\. Year",
        ),
        ("<p>&gt; no quote<p>a &gt; b", "\\> no quote\n\na > b"),
        ("<p>``` no fence<p>~~~ none", "\\``` no fence\n\n\\~~~ none"),
        ("<p>title<br>=====<br>---", "title\n\\=====\n\\---"),
        ("<p>| a | b |<p>a | b", "\\| a | b |\n\na | b"),
        ("<p>[x]: https://example.com", "\\[x]: https://example.com"),
        ("<p>[a](https://example.com) ![b](c)", "[a]\\(https://example.com) ![b]\\(c)"),
        ("<p>&lt;b&gt; &lt;/b&gt; 1 &lt; 2 &lt;3", "\\<b> \\</b> 1 < 2 <3"),
        ("<p>*no* emphasis, 2*3*4, * and 5 * 6 **x**", "\\*no* emphasis, 2*3*4, * and 5 * 6 \\*\\*x**"),
        ("<p>_no_ emphasis, snake_case_name, __init__", "\\_no_ emphasis, snake_case_name, \\_\\_init__"),
        ("<p>100% & \\(x\\) C:\\path ~5 $5 #1 (a) [b] {c}", "100% & \\(x\\) C:\\path ~5 $5 #1 (a) [b] {c}"),
    ],
)
def test_text_forges_no_structure_and_prose_has_no_backslashes(html: str, text: str) -> None:
    assert md(html) == text


def test_elements_come_in_order_and_each_once() -> None:
    root = parse("<p>a</p><div><p>b</p></div><p>c</p><p>d</p>tail")
    a, b, c, _ = root.iter("p")
    box = b.getparent()

    assert render([a, box, b, c]) == "a\n\nb\n\nc"


def test_what_is_to_be_left_out_is_left_out_with_all_that_is_in_it() -> None:
    root = parse("<div>a<nav>b<p>c</p></nav>d</div><table><tr><th>x<th>y<tr><td>1<td>2<b>3</b></table>")
    nav, bold = root.find(".//nav"), root.find(".//b")

    assert render([root], drop=[nav, bold]) == "a\n\nd\n\n| x | y |\n| --- | --- |\n| 1 | 2 |"


def test_media_and_forms_leave_no_text() -> None:
    html = "<p>a<script>b</script><svg><title>c</title></svg><select><option>d</select><textarea>e</textarea>f</p>"

    assert md(html) == "af"


@pytest.mark.parametrize(
    "tag",
    [
        "div", "b", "ul><li", "blockquote", "ol><li", "a href=/x", "h1", "table><tr><td", "dl><dd", "em", "code", "pre",
        "font", "li", "math", "span class=katex", "sup", "button", "p",
    ],
)  # fmt: skip
def test_pages_of_any_depth_are_written_in_bounded_size(tag: str) -> None:
    root = parse(f"<{tag}>word " * 5000)
    sanitise(root)

    text = render([root], base=BASE)

    assert len(text) < 1_500_000
    assert text.count("word") == 5000


TAGS = [
    "p", "div", "h1", "h3", "ul", "ol", "li", "a href='/x'", "b", "i", "code", "pre", "table", "tr", "td", "th", "br",
    "hr", "blockquote", "span style='display:none'", "sup", "dl", "dt", "dd", "img alt='x' src='/y'", "math", "mi",
    "section", "script", "button", "input type=checkbox", "span class=line", "td colspan=3 rowspan=2",
    "noscript", "p hidden",
]  # fmt: skip


def test_blanks_before_the_words_of_a_heading_become_one() -> None:
    out = MarkdownWriter()
    out.heading = 2
    out.raw(" ")
    out.begin("strong")
    for _ in range(3):
        out.raw(" ")
        assert not out.has_words()
    assert len(out.pieces) == 1

    out.text("words")
    out.end("strong")
    assert out.has_words()
    out.end_heading()

    assert out.lines == ["## words"]


PIECES = st.one_of(
    st.sampled_from(TAGS).map(lambda tag: f"<{tag}>"),
    st.sampled_from(TAGS).map(lambda tag: f"</{tag.partition(' ')[0]}>"),
    st.text(alphabet="ab \n#*_`[]()|>-1.\u200b\u202e\x07&;", max_size=8),
    st.text(max_size=6),
)


@given(st.lists(PIECES, max_size=40))
def test_any_page_becomes_markdown_without_controls(pieces: list[str]) -> None:
    html = "".join(pieces)
    root = parse(html)
    sanitise(root)

    text = render([root], base=BASE)

    assert len(text) <= 60 * len(html) + 100
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u2069\ufeff]", text)
    assert not re.search(r"\n{4,}", text)
    assert not text.startswith("\n")
    assert not text.endswith("\n")
