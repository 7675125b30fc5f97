"""Short, plain pages: nothing of what they say is lost, and nothing of what stands around it comes in."""

from __future__ import annotations

import pytest

from specloom.domains.scrape.extract import extract

AROUND = (
    '<header><a href="/">Tamar Trust</a></header><nav><ul><li><a href="/">Home</a></li>'
    '<li><a href="/news">News</a></li><li><a href="/about">About us</a></li></ul></nav>{}<footer><p>{}</p><ul>'
    '<li><a href="/privacy">Privacy</a></li>'
    '<li><a href="/terms">Terms</a></li></ul></footer>'
)
PROSE = (
    "<p>The river has otters again, and they eat mostly trout and eels, as the counts of the last ten years show.</p>"
    "<p>Two volunteers walk the banks each spring, from the weir at Horse Bridge to the tide, and note each holt.</p>"
)
PAGES = {
    "only table": (
        "Tide times",
        (
            "<table><tr><th>Day</th><th>High</th><th>Low</th></tr><tr><td>Monday</td><td>06:10</td><td>12:20</td></tr>"
            "<tr><td>Tuesday</td><td>07:05</td><td>13:10</td></tr></table>"
        ),
        ["06:10", "13:10", "High"],
    ),
    "only list": (
        "Packing list",
        "<ul><li>Boots</li><li>Waterproof coat</li><li>Field notebook</li><li>Binoculars</li></ul>",
        ["Boots", "Binoculars"],
    ),
    "only code": (
        "Install",
        "<pre><code>apt install otter-count\notter-count --init</code></pre>",
        ["otter-count --init"],
    ),
    "one para": (
        "Closed today",
        "<p>The hide is closed today because of the flood; it opens again on Friday at nine.</p>",
        ["opens again on Friday"],
    ),
    "recipe": (
        "Eel stew",
        (
            "<p>A stew for four, as it is made in the fens.</p><h2>Ingredients</h2><ul><li>500 g eel</li><li>"
            "2 onions</li><li>1 lemon</li></ul><h2>Method</h2><ol><li>Skin the eel and cut it.</li><li>Brown "
            "the onions slowly.</li><li>Simmer for forty minutes.</li></ol>"
        ),
        ["500 g eel", "1 lemon", "forty minutes"],
    ),
    "faq": (
        "Questions",
        (
            "<h2>When is the hide open?</h2><p>From nine to five, all days but Monday.</p><h2>May I bring a "
            "dog?</h2><p>Only on a lead, and not in spring.</p><h2>Is there a café?</h2><p>No, but there is "
            "a van at weekends.</p>"
        ),
        ["nine to five", "on a lead", "van at weekends"],
    ),
    "faq details": (
        "Questions",
        (
            "<details><summary>When is the hide open?</summary><p>From nine to five, all days but Monday.</p></details>"
            "<details><summary>May I bring a dog?</summary><p>Only on a lead, and not in spring.</p></details>"
        ),
        ["When is the hide open", "nine to five", "on a lead"],
    ),
    "api docs": (
        "count()",
        (
            "<p>Counts the otters of a reach.</p><h2>Parameters</h2><table><tr><th>Name</th><th>Type</th><th>"
            "Description</th></tr><tr><td>reach</td><td>string</td><td>Which reach.</td></tr><tr><td>year</td>"
            "<td>int</td><td>Which year.</td></tr></table><h2>Returns</h2><p>An integer.</p><h2>Example</h2>"
            '<pre><code>count("lower", 2019)</code></pre>'
        ),
        ["reach", "Which year", "An integer", 'count("lower", 2019)'],
    ),
    "dl end": (
        "Words of the river",
        PROSE + "<dl><dt>Holt</dt><dd>The den of an otter.</dd><dt>Spraint</dt><dd>Its droppings.</dd></dl>",
        ["den of an otter", "Its droppings"],
    ),
    "glossary": (
        "Words of the river",
        (
            "<dl><dt>Holt</dt><dd>The den of an otter.</dd><dt>Spraint</dt><dd>Its droppings.</dd><dt>Slide</dt>"
            "<dd>Where it goes into the water.</dd></dl>"
        ),
        ["Holt", "den of an otter", "into the water"],
    ),
    "footnotes": (
        "Otters",
        PROSE + "<h2>Notes</h2><ol><li>Counted in March.</li><li>The weir was rebuilt in 1998.</li></ol>",
        ["Counted in March", "rebuilt in 1998"],
    ),
    "contact": (
        "Contact",
        (
            "<p>Tamar Trust</p><p>The Old Quay, Calstock</p><p>Telephone: 01822 000 000</p><p>Open on "
            "weekdays from nine to four.</p>"
        ),
        ["Old Quay", "01822", "weekdays"],
    ),
    "event": (
        "Otter walk",
        (
            "<ul><li><strong>Date:</strong> 4 May 2025</li><li><strong>Time:</strong> 06:00 to 08:00</li><li>"
            "<strong>Where:</strong> Horse Bridge car park</li><li><strong>Price:</strong> £5</li></ul>"
        )
        + PROSE,
        ["4 May 2025", "Horse Bridge car park", "£5"],
    ),
    "changelog": (
        "Changelog",
        (
            "<h2>1.2.0 - 2024-05-01</h2><ul><li>Counts by reach.</li><li>Faster start.</li></ul><h2>1.1.0 - "
            "2024-02-01</h2><ul><li>Export as CSV.</li></ul>"
        ),
        ["1.2.0", "Counts by reach", "Export as CSV"],
    ),
    "pricing": (
        "Membership",
        (
            "<p>Choose what suits you.</p><table><thead><tr><th>Plan</th><th>Price</th></tr></thead><tbody>"
            "<tr><td>Single</td><td>£20 a year</td></tr><tr><td>Family</td><td>£35 a year</td></tr></tbody></table>"
        ),
        ["Single", "£35 a year"],
    ),
    "thread": (
        "Otter at the weir?",
        (
            '<div class="post"><div class="author">ann</div><p>I saw something brown swim below the weir at '
            'dawn. Was it an otter or a mink?</p></div><div class="post"><div class="author">bob</div><p>If '
            "the tail was thick at its root it was an otter; minks have thin ones.</p></div>"
            '<div class="post"><div class="author">ann</div><p>Thick, so an otter. Thank you!</p></div>'
        ),
        ["brown swim", "tail was thick", "Thick, so an otter"],
    ),
    "cards": (
        "News",
        (
            '<div class="card"><h2><a href="/n1">Cubs at the mine</a></h2><p>The first cubs for thirty years '
            'were seen.</p></div><div class="card"><h2><a href="/n2">New hide opens</a></h2><p>The council '
            'has built a hide near the quay.</p></div><div class="card"><h2><a href="/n3">Flood</a></h2><p>'
            "The meadow was under water for a week.</p></div>"
        ),
        ["Cubs at the mine", "hide near the quay", "under water"],
    ),
    "quote end": (
        "Otters",
        PROSE + "<blockquote><p>We never thought to see them here again.</p></blockquote><p>Ann Lee, volunteer</p>",
        ["never thought"],
    ),
    "short sections": (
        "Otter facts",
        ("<h2>Size</h2><p>About a metre.</p><h2>Weight</h2><p>Eight kilos.</p><h2>Food</h2><p>Fish and crabs.</p>"),
        ["About a metre", "Eight kilos", "Fish and crabs"],
    ),
    "product": (
        "Otter mug",
        (
            '<p class="price">£12.50</p><p>A mug of stoneware with an otter on it, made in Calstock.</p><h2>'
            "Specifications</h2><table><tr><td>Volume</td><td>350 ml</td></tr>"
            "<tr><td>Weight</td><td>400 g</td></tr></table>"
        ),
        ["£12.50", "stoneware", "350 ml"],
    ),
    "list with links": (
        "Otters",
        PROSE
        + (
            '<h2>Further reading</h2><ul><li><a href="/a">The otter survey of 2019</a>, by Ann Lee</li><li>'
            '<a href="/b">Rivers and mines</a>, by Bob Ray</li></ul>'
        ),
        ["otter survey of 2019"],
    ),
    "image caption": (
        "Otters",
        PROSE + '<figure><img src="o.jpg" alt="An otter"><figcaption>An otter below the weir.</figcaption></figure>',
        ["below the weir", "Horse Bridge"],
    ),
    "status": (
        "Service status",
        "<p>All systems work.</p><ul><li>Web: up</li><li>API: up</li><li>Mail: slow</li></ul>",
        ["All systems", "Mail: slow"],
    ),
}
"""Title, what stands under it, and words of it."""


def read(title: str, body: str, *, notice: str = "Copyright 2024 Tamar Trust") -> str:
    page = f"<html lang=en><title>{title} | Tamar Trust</title><body>{AROUND.format(body, notice)}"
    return extract(page).markdown.replace("\\", "").replace("**", "")


@pytest.mark.parametrize("around", ["article", "main", 'div class="content"', "div"])
@pytest.mark.parametrize("name", PAGES)
def test_a_short_page_is_read_whole_and_alone(name: str, around: str) -> None:
    title, body, said = PAGES[name]

    text = read(title, f"<{around}><h1>{title}</h1>{body}</{around.split(maxsplit=1)[0]}>")

    assert [words for words in (title, *said) if words not in text] == []
    assert [words for words in ("Copyright", "Privacy", "About us") if words in text] == []


@pytest.mark.parametrize(
    "notice",
    [
        "Copyright 2024 Tamar Trust",
        "© Tamar Trust 2019-2024",
        "2024 © Tamar Trust",
        "Tamar Trust. All rights reserved.",
        "(c) 2024 Tamar Trust",
    ],
)
def test_who_owns_a_short_page_is_no_part_of_it(notice: str) -> None:
    title, body, said = PAGES["recipe"]

    text = read(title, f"<article><h1>{title}</h1>{body}</article>", notice=notice)

    assert said[-1] in text
    assert "Tamar" not in text


def test_what_a_text_says_of_copyright_stays() -> None:
    said = "<p>The song is under copyright until 2041, and all rights reserved to the heirs of its writer.</p>"

    assert "until 2041" in read("Songs", f"<article><h1>Songs</h1>{PROSE}{said}</article>")
