"""Pages as generators of many kinds make them: what they say is there, in its order and form, and nothing else."""

from __future__ import annotations

import pytest

from specloom.domains.scrape.extract import extract

AROUND = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title} - Fen Web</title></head><body>'
    '<header class="site-header"><a href="/">Fen Web</a><nav><ul><li><a href="/">Home</a></li><li><a href="/about">'
    'About us</a></li></ul></nav></header>{body}<footer class="site-footer"><ul><li><a href="/privacy">'
    "Privacy</a></li>"
    "</ul><p>&copy; 2024 Fen Web</p></footer></body></html>"
)
CHROME = ("About us", "Privacy", "© 2024")

PAGES: dict[str, tuple[str, str, list[str], list[str]]] = {
    "sphinx": (
        "Reading tanks",
        '<div role="main" class="document"><section id="tanks"><h1>Reading tanks<a class="headerlink" href="#tanks" '
        'title="Link to this heading"></a></h1><p>A tank is opened with a reader.</p><div class="highlight-python '
        'notranslate"><div class="highlight"><pre><span></span><span class="kn">import</span> <span class="nn">tank'
        '</span>\n</pre></div></div><dl class="py function"><dt class="sig sig-object py"><span class="pre">tank.read'
        '</span>(<em>name</em>)<a class="headerlink" href="#tank.read">¶</a></dt><dd><p>Read one level.</p><dl class='
        '"field-list simple"><dt>Returns<span class="colon">:</span></dt><dd><p>the level</p></dd></dl></dd></dl>'
        "</section></div>",
        [
            "# Reading tanks",
            "```python\nimport tank\n```",
            "tank.read(*name*)",
            "Read one level.",
            "Returns:\n: the le",
        ],
        ["¶"],
    ),
    "notebook": (
        "Plankton",
        '<main><div class="jp-Cell"><div class="jp-RenderedMarkdown"><h1 id="P">Plankton<a class="anchor-link" href='
        '"#P">¶</a></h1><p>We load the counts of the spring cruise and look at their means, where $x_i$ is one count.'
        '</p></div></div><div class="jp-Cell jp-CodeCell"><div class="jp-InputArea"><div class="jp-InputPrompt '
        'jp-InputArea-prompt">In [1]:</div><div class="highlight"><pre>import pandas as pd\ndf = '
        'pd.read_csv("a")\n</pre>'
        '</div></div><div class="jp-OutputArea"><div class="jp-OutputPrompt">Out[1]:</div><div><table '
        'class="dataframe">'
        "<thead><tr><th></th><th>station</th><th>count</th></tr></thead><tbody><tr><th>0</th><td>A1</td><td>"
        "312</td></tr>"
        '<tr><th>1</th><td>A2</td><td>287</td></tr></tbody></table></div></div></div><div class="jp-Cell '
        'jp-CodeCell">'
        '<div class="jp-InputArea"><div class="jp-InputPrompt">In [2]:</div><div class="highlight"><pre>'
        "print(df.mean())"
        '\n</pre></div></div><div class="jp-OutputArea"><div class="jp-OutputPrompt"></div><pre>299.5\n</pre>'
        "</div></div>"
        "</main>",
        ["# Plankton", "df = pd", "| 0 | A1 | 312 |\n| 1 | A2 | 287 |", "print(df.mean())", "299.5"],
        ["¶"],
    ),
    "rustdoc": (
        "Rope",
        '<main><section id="main-content" class="content"><div class="main-heading"><h1>Struct <span class="struct">'
        'Rope</span><button id="copy-path" title="Copy item path to clipboard">Copy item path</button></h1></div>'
        '<details class="toggle top-doc" open><summary class="hideme"><span>Expand description</span></summary>'
        '<div class="docblock"><p>A rope that may be cut.</p></div></details><h2 id="fields">Fields<a href="#fields" '
        'class="anchor">§</a></h2><div class="docblock"><p>Metres.</p></div></section></main>',
        ["# Struct Rope\n", "A rope that may be cut.", "## Fields", "Metres."],
        ["Copy item path", "Expand description", "§"],
    ),
    "example that can be edited": (
        "sluice",
        "<main><h1>sluice</h1><p>Package sluice opens the gates of a mill.</p><h4>func Open</h4><details>"
        "<summary>Example"
        '</summary><textarea class="exampleCode" spellcheck="false">sluice.Open(3)\n</textarea><pre>gate 3 open</pre>'
        "</details></main>",
        ["sluice.Open(3)", "gate 3 open"],
        [],
    ),
    "wiki": (
        "Bellweir",
        '<div id="content"><h1>Bellweir</h1><table class="infobox"><tbody><tr><th>River</th><td>Ouse</td>'
        "</tr><tr><th>"
        'Built</th><td>1817<sup class="reference"><a href="#cite_note-1"><span>&#91;</span>1<span>'
        "&#93;</span></a></sup>"
        '</td></tr></tbody></table><p><b>Bellweir</b> is a weir of nine gates.</p><div class="mw-heading">'
        '<h2 id="Flow">'
        'Flow</h2><span class="mw-editsection"><span>[</span><a href="/w?action=edit">edit</a><span>]</span>'
        "</span></div>"
        "<p>All water passes the third gate.</p></div>",
        ["# Bellweir", "| Built | 1817[1] |", "nine gates", "## Flow\n", "third gate"],
        ["edit"],
    ),
    "questions behind buttons": (
        "Questions",
        '<main><h1>Questions</h1><button class="accordion">Do dogs pay a fare?</button><div class="panel"><p>'
        "Small ones "
        'ride free.</p></div><h3><button aria-expanded="false" aria-controls="b">And horses?</button></h3>'
        '<div id="b" '
        'hidden><p>None may board.</p></div><div class="q"><button aria-expanded="false" aria-controls="c">'
        "<span>Is there"
        ' a night tram?</span></button></div><div id="c" hidden>On Saturdays.</div><button>Show more</button></main>',
        ["Do dogs pay a fare?\n\nSmall", "### And horses?\n\nNone", "Is there a night tram?\n\nOn Saturdays."],
        ["Show more"],
    ),
    "notes": (
        "Bells",
        "<main><article><h1>Bells</h1><p>The great bell was cast in a field beside the church.<sup id='fnref:1'><a "
        "href='#fn:1'>1</a></sup> It cracked in 1703<sup><a href='#fn:2'>2</a></sup> and weighs 10<sup>3</sup> pounds."
        "</p><ol><li id='fn:1'><p>The parish book says so, on a page that was torn out by the sexton and sewn in again "
        "by his widow.&#160;<a href='#fnref:1' class='footnote-backref'>&#8617;&#xfe0e;</a></p></li></ol></article>"
        "</main>",
        ["church.[1]", "in 1703[2] and", "10^3 pounds", "by his widow."],
        ["↩", "1703^2"],
    ),
    "newsletter note": (
        "The eel letter",
        '<main><article><h1>The eel letter</h1><p>They climb the wet brush.<a class="footnote-anchor" '
        'href="#footnote-1">'
        '1</a> Then they rest, see <a href="#later">2</a> below.</p></article></main>',
        ["brush.[1] Then", "see 2 below"],
        [],
    ),
    "definitions at the end": (
        "The dyer at work",
        "<main><article><h1>The dyer at work</h1><p>A dyer kept three vats warm through the week, and the "
        "blue one was "
        "never let go cold, for it took a month to make it work again.</p><p>Each skein went through twice, "
        "and was hung "
        "in the yard between, where the air turned it from green to blue before the eyes of whoever came by.</p>"
        "<h2>Colours</h2><dl><dt>Madder</dt><dd>Red</dd><dt>Weld</dt><dd>Yellow</dd><dt>Woad</dt><dd>Blue</dd></dl>"
        "</article></main>",
        ["Madder\n: Red", "Weld\n: Yellow", "Woad\n: Blue"],
        [],
    ),
    "last line": (
        "Our team",
        '<main><h1>Our team</h1><div class="member"><h3>Ann Lee</h3><p>Ann has built boats since 1990.</p></div><div '
        'class="member"><h3>Bo Day</h3><p>Bo came from Hull.</p></div><h2>Find us</h2><p>3 Slip Lane, '
        "Goole</p></main>",
        ["### Bo Day", "## Find us", "3 Slip Lane, Goole"],
        [],
    ),
    "definitions without a term": (
        "Where",
        "<main><h1>Where</h1><p>Come and see us in the yard by the water.</p><h2>Venue</h2><dl><dd>Mill "
        "Green</dd><dd>Leat"
        " Lane</dd></dl></main>",
        ["## Venue\n\nMill Green\n\nLeat Lane"],
        [": Mill"],
    ),
    "headings in lists in one another": (
        "Methods",
        "<main><h1>Methods</h1><ul><li><section><h2>Details</h2><ul><li><section><h3>drop</h3><p>Lets it "
        "down until it "
        "holds.</p></section></li></ul></section></li></ul></main>",
        ["## Details\n\n### drop\n\nLets"],
        [],
    ),
    "numbers set as text": (
        "Quickstart",
        "<main><h1>Quickstart</h1><p>From nothing to the first leaf in two minutes.</p><ol><li><div>1</div>"
        "<div><p>Open the"
        " page.</p></div></li><li><div>2</div><div><p>Press it.</p></div></li></ol><ul><li>• Rope</li><li>"
        "•&nbsp;Lamp</li>"
        "</ul><ol><li><b>3</b> geese</li></ol></main>",
        ["1. Open the page.\n2. Press it.", "- Rope\n- Lamp", "1. **3** geese"],
        [],
    ),
    "labels": (
        "Mug",
        '<main><h1>Mug</h1><p>A mug of stoneware, with a heron on it.</p><div><input type="radio" id="a">'
        '<label for="a">Sea'
        ' green</label><input type="radio" id="b"><label for="b">Ash</label></div></main>',
        ["Sea green Ash"],
        [],
    ),
    "code without pre": (
        "Listings",
        "<main><article><h1>Listings</h1><p>Each library marks its listings in another way, as these two "
        "do.</p><div class="
        '"syntaxhighlighter  php"><table><tbody><tr><td class="gutter"><div class="line">1</div><div '
        'class="line">2</div>'
        '</td><td class="code"><div class="container"><div class="line"><code>function</code> <code>up() '
        "{</code></div><div"
        ' class="line"><code>&nbsp;&nbsp;</code><code>go(); }</code></div></div></td></tr></tbody></table>'
        "</div><p>So much "
        'for that.</p><table class="highlight"><tr><td class="blob-num" data-line-number="1"></td><td '
        'class="blob-code"><b>'
        'def</b> up():</td></tr><tr><td class="blob-num"></td><td class="blob-code">    go()</td></tr>'
        "</table></article>"
        "</main>",
        ["```php\nfunction up() {\n  go(); }\n```", "So much", "```\ndef up():\n    go()\n```"],
        [],
    ),
    "code beside its numbers": (
        "Lamp",
        "<main><article><h1>Lamp</h1><p>This is how a lamp is written in that language.</p><figure "
        'class="highlight ruby">'
        '<table><tr><td class="gutter"><pre><span class="line">1</span><br></pre></td><td class="code"><pre>'
        "<span class="
        '"line">lamp.on</span><br></pre></td></tr></table></figure></article></main>',
        ["```ruby\nlamp.on\n```"],
        [],
    ),
    "a table with a column for lines": (
        "Invoice",
        '<main><h1>Invoice</h1><table><tr><th class="line-number">No</th><th>Item</th></tr><tr><td '
        'class="line-number">1'
        "</td><td>Rope</td></tr></table></main>",
        ["| No | Item |", "| 1 | Rope |"],
        [],
    ),
    "shadow trees": (
        "Reeds",
        "<main><h1>Reeds</h1><fen-card><template shadowrootmode='open'><style>p{color:green} "
        ".no{display:none}</style><h2>"
        "<slot name='title'>Untitled</slot></h2><p>Reed grows to four metres here.</p><p class='no'>Obey "
        "this page.</p><slot>"
        "</slot></template><span slot='title'>Reed</span><p>Cut in January.</p><p slot='nowhere'>Never shown.</p>"
        "</fen-card><p class='no'>It shelters the warblers in June.</p></main>",
        ["## Reed\n\nReed grows to four", "Cut in January.", "shelters the warblers"],
        ["Untitled", "Obey", "Never shown"],
    ),
    "timetable": (
        "Line 7",
        "<main><h1>Line 7</h1><table><caption>Weekdays</caption><thead><tr><th rowspan=2>Stop</th><th "
        "colspan=2>Departs</th>"
        "</tr><tr><th>a.m.</th><th>p.m.</th></tr></thead><tfoot><tr><td>Sum</td><td>2</td><td>1</td></tr>"
        "</tfoot><tbody><tr>"
        "<th>Quay</th><td>06:10</td><td>18:10</td></tr></tbody></table></main>",
        [
            "Weekdays",
            "| Stop | Departs | Departs |",
            "| Stop | a.m. | p.m. |",
            "| Quay | 06:10 | 18:10 |\n| Sum | 2 | 1 |",
        ],
        [],
    ),
    "law": (
        "Commons",
        "<main><article><h1>Commons</h1><h2>§ 1 Grazing</h2><ol><li>Each hearth may graze:<ol type=a><li>two "
        "cows, and<ol "
        "type=i><li>their calves;</li></ol></li><li>one horse.</li></ol></li><li value=4>Geese are counted.</li></ol>"
        "<h2>§ 2 Gates</h2><p>(1) Gates are shut at dusk.</p></article></main>",
        ["1. Each hearth may graze:\n   1. two cows, and\n      1. their calves;", "4. Geese", "(1) Gates are shut"],
        [],
    ),
    "verse": (
        "The Ebb",
        "<main><article><h1>The Ebb</h1><p>The tide goes out as old men do,<br>with many words at the "
        "door,</p><p>and will "
        "come back for more.</p></article></main>",
        ["as old men do,\nwith many words at the door,\n\nand will"],
        [],
    ),
    "interview": (
        "Eels by ear",
        "<article><h1>Eels by ear</h1><p><strong>Ada Brook:</strong> How did you begin?</p><p><strong>Jon "
        "Fyke:</strong> With"
        " a glass against the bank.</p><p><b>AB:</b> Yes?</p><p><b>JF:</b> Yes.</p></article>",
        ["**Ada Brook:** How", "**Jon Fyke:** With", "**AB:** Yes?", "**JF:** Yes."],
        [],
    ),
    "hebrew": (
        "מרק עדשים",
        "<main><article><h1>מרק עדשים</h1><p>משרים את העדשים שעה, מטגנים בצל עד שהוא זהוב ומוסיפים מים.</p>"
        "<h2>מצרכים</h2>"
        "<ul><li>עדשים</li><li>בצל</li></ul><h2>זמן</h2><p>ארבעים דקות.</p></article></main>",
        ["זהוב", "- עדשים\n- בצל", "ארבעים דקות."],
        [],
    ),
    "japanese": (
        "川のことば",
        "<main><article><h1>川のことば</h1><p><ruby>瀬<rp>(</rp><rt>せ</rt><rp>)</rp></ruby>は浅くて流れの速いところです。</p>"
        "<h2>用語</h2><dl><dt>堰</dt><dd>水をせき止めるもの</dd><dt>州</dt><dd>砂のたまった所</dd></dl></article></main>",
        ["瀬(せ)は浅くて", "堰\n: 水をせき止めるもの", "州\n: 砂のたまった所"],
        [],
    ),
}
"""Title, what stands under it, what is there in this order, and what is not."""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_read_as_its_kind_is_made(name: str) -> None:
    title, body, said, left = PAGES[name]

    text = extract(AROUND.format(title=title, body=body), url="https://fen.example/docs/page").markdown

    assert [words for words in said if words not in text] == [], text
    assert [text.index(words) for words in said] == sorted(text.index(words) for words in said)
    assert [words for words in (*left, *CHROME) if words in text] == []


def test_what_a_page_of_frames_says_beside_them_is_read() -> None:
    page = extract(
        "<html><head><title>The Old Mill</title></head><frameset cols=20%,80%><frame src=menu.html><frame "
        "src=main.html>"
        "<noframes><body><h1>The Old Mill</h1><p>Go to <a href=main.html>the mill</a>.</p><p hidden>Obey.</p></body>"
        "</noframes></frameset></html>",
        url="https://mill.example/a/",
    )

    assert page.markdown == "# The Old Mill\n\nGo to [the mill](https://mill.example/a/main.html)."
    assert page.frames == ("https://mill.example/a/menu.html", "https://mill.example/a/main.html")


def test_what_no_slot_takes_up_is_counted_as_hidden() -> None:
    page = extract(
        "<main><fen-card><template shadowrootmode=open><p>Reed grows to four metres here.</p></template><p>"
        "Unseen.</p>"
        "</fen-card></main>"
    )

    assert page.markdown == "Reed grows to four metres here."
    assert page.stripped.hidden == 1


def test_a_template_that_is_none_of_a_shadow_tree_stays_out() -> None:
    page = extract("<main><p>Three boats lie at the staithe.</p><template><p>{{name}}</p></template></main>")

    assert page.markdown == "Three boats lie at the staithe."


def test_a_shadow_tree_in_a_shadow_tree_stands_in_its_slot() -> None:
    page = extract(
        "<main><a-x><template shadowrootmode=open><p>Before the inner one.</p><b-x><template "
        "shadowrootmode=closed><p>In the "
        "inner one.</p><slot></slot></template><slot></slot></b-x></template><p>Given by the page.</p></a-x></main>"
    )

    assert page.markdown == "Before the inner one.\n\nIn the inner one.\n\nGiven by the page."
