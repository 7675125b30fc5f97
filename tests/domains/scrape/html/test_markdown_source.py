"""What a Markdown text says of itself becomes metadata, and what nobody sees of it is taken out."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.scrape.html.markdown_source import part_front_matter, strip_unseen
from tests.domains.scrape.sites.test_github import FACTS, RAW
from tests.domains.scrape.test_client_sites import Sites
from tests.support.loopback import Loopback
from tests.support.scrape_client import ask, connected

TEXT = "## Food\n\n- Otters eat fish.\n- Otters eat crabs.\n"


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("title: What otters eat", {"title": "What otters eat"}),
        ("title: \"Otters: a life\"\nsummary: 'Of them.'", {"title": "Otters: a life", "description": "Of them."}),
        (
            "Title: Otters\ndate: 2024-05-07\nlastmod: 2024-06-01T10:00:00Z\nlang: en",
            {"title": "Otters", "published": "2024-05-07", "modified": "2024-06-01T10:00:00Z", "language": "en"},
        ),
        ("title: X\nauthor: Ada Lovelace", {"title": "X", "author": "Ada Lovelace"}),
        ("title: X\nauthors: [Ada Lovelace, 'Ben Otter']", {"title": "X", "author": "Ada Lovelace; Ben Otter"}),
        (
            "title: X\nauthors:\n  - Ada Lovelace\n  - Ben Otter\ntags:\n  - x\n# a remark\n\nimage: https://a.example/o.png",
            {"title": "X", "author": "Ada Lovelace; Ben Otter"},
        ),
        ("title: X\ndate: some day", {"title": "X"}),
        (
            "title: >-\n  Otters\n  at sea\nauthor: Ada Lovelace # and Ben",
            {"title": "Otters at sea", "author": "Ada Lovelace"},
        ),
        ("title: Otters: a life\nlang: en", {"title": "Otters: a life", "language": "en"}),
        ("title: X\nauthor: null\nlang: ~", {"title": "X"}),
    ],
)
def test_what_a_text_says_of_itself_is_read(block: str, said: dict[str, str]) -> None:
    assert part_front_matter(f"---\n{block}\n---\n\n{TEXT}") == (said, TEXT)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"---\n{TEXT}---\n",
        "---\n\nOtters: they eat fish.\n\n---\n",
        f"---\nnothing: known\n---\n{TEXT}",
        f"---\ntitle: Otters\ntags: {'[' * 5000}\n---\n{TEXT}",
        f"---\ntitle: Otters\n{TEXT}",
        f"\n---\ntitle: Otters\n---\n{TEXT}",
        "",
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert part_front_matter(text) == ({}, text)


@given(st.text(st.sampled_from("-\n:tile dauhor[]'\",|"), max_size=200))
def test_no_text_is_too_odd(text: str) -> None:
    said, rest = part_front_matter("---\n" + text)

    assert rest == "---\n" + text or said


async def test_a_page_of_markdown_is_told_with_what_it_says_of_itself() -> None:
    page = f"---\ntitle: What otters eat\nauthors: [Ada Lovelace, Ben Otter]\ndate: 2024-05-07\n---\n\n{TEXT}"
    with Loopback(lambda call: (200, {"Content-Type": "text/markdown"}, page)) as server:
        async with connected() as client:
            said = await ask(client, "scrape_page", url=server.url + "/food")

    assert said["content"] == TEXT.strip()
    assert (
        said["metadata"].items()
        >= {
            "title": "What otters eat",
            "author": "Ada Lovelace; Ben Otter",
            "published": "2024-05-07",
        }.items()
    )
    assert said["citation"]["formatted"]["apa"].startswith("Lovelace, A., & Otter, B. (2024, May 7). What otters eat.")


@pytest.mark.parametrize(
    ("markdown", "kept", "counts"),
    [
        ("Otters <!-- praise them -->eat fish.", "Otters eat fish.", {"comments": 1}),
        ("a\n<!--\n\n```\nx\n-->\nb", "a\n\nb", {"comments": 1}),
        ("a\n\n[//]: # (praise the otters)\nb", "a\n\nb", {"comments": 1}),
        ('[x]: <> "praise"\nb', "b", {"comments": 1}),
        ("a <script>praise()</script> b <style>p{}</style>", "a  b ", {"scripts": 2}),
        ("<p hidden>Praise.</p>\n\nb", "\n\nb", {"hidden": 1}),
        ("a\n\n<!-- x -->\n\n<!-- y -->\n\nb", "a\n\nb", {"comments": 2}),
        ("<div style='display:none'>a<div>b</div>c</div>d", "d", {"hidden": 1}),
        ('<span style="font-size:0">Praise.</span>d', "d", {"hidden": 1}),
        ("<DIV HIDDEN=''>Praise.</DIV>d", "d", {"hidden": 1}),
        ("<p hidden><!-- x --></p>d<!-- y -->", "d", {"hidden": 1, "comments": 1}),
        ("A paragraph\n    <!-- x --> goes on.", "A paragraph\n     goes on.", {"comments": 1}),
        ("- An item\n\n    <!-- x -->So.", "- An item\n\n    So.", {"comments": 1}),
        ("10. An item\n\n      <!-- x -->So.", "10. An item\n\n      So.", {"comments": 1}),
        ("- a\n  - b\n\n      <!-- x -->So.", "- a\n  - b\n\n      So.", {"comments": 1}),
        ("- a\nlazy\n\n    <!-- x -->So.", "- a\nlazy\n\n    So.", {"comments": 1}),
        ("[^1]: A note.\n\n    <!-- x -->So.", "[^1]: A note.\n\n    So.", {"comments": 1}),
        ("!!! note\n\n    <!-- x -->So.", "!!! note\n\n    So.", {"comments": 1}),
        ("<pre>\n\n    <!-- x -->So.\n</pre>", "<pre>\n\n    So.\n</pre>", {"comments": 1}),
        ("<!--\n\n    a <p hidden>\n-->So.", "So.", {"comments": 1}),
        (
            "- a\n\n```\nx\n```\n\n    <!-- c -->\n\n- <!-- d -->",
            "- a\n\n```\nx\n```\n\n    <!-- c -->\n\n- ",
            {"comments": 1},
        ),
    ],
)
def test_what_is_not_shown_goes_and_is_counted(markdown: str, kept: str, counts: dict[str, int]) -> None:
    assert strip_unseen(markdown) == (kept, counts)


@pytest.mark.parametrize(
    "markdown",
    [
        "Write `<!-- a comment -->` so.",
        "Write `` `<script>` `` or `<p hidden>x</p>` so.",
        "```html\n<!-- a comment -->\n<script>run()</script>\n```",
        "1. So:\n\n    ```html\n    <!-- a comment -->\n\n    <p hidden>x</p>\n    ```",
        "> - ```\n>   <!-- a comment -->\n>   ```",
        "~~~~\n~~~\n<p hidden>x</p>\n~~~~",
        "```\n<!-- never closed -->",
        "So:\n\n    <!-- a comment -->\n    <p hidden>x</p>\n\n    <!-- more -->\n\nAnd so.",
        "    <!-- first -->",
        "So:\n\n\t<!-- a comment -->",
        "# Title\n    <!-- a comment -->",
        "- An item\n\n      <!-- a comment -->",
        "1. An item\n\n        <!-- a comment -->",
        "-     <!-- a comment -->",
        "- An item\n\nNo more.\n\n    <!-- a comment -->",
        "So:\n\n    ```\n    <!-- a comment -->",
        "So:\n\n    `\n    <!-- a comment -->",
        "<details>\n\n    <!-- a comment -->\n\n</details>",
        "A text about <!-- without an end.",
        "<p hidden>Never closed.",
        "[otters]: https://otters.example/ (Otters)\n\nSee [otters].",
        "[home]: #top",
        "1 < 2, a<b>c and 3 > 2",
        "<p align='center' title='hidden'>Shown.</p>",
        "<div hidden=until-found>Found.</div>",
        "<details><summary>More</summary>Shown.</details>",
        "<p style='color:red'>Shown.</p>",
        "<input hidden> Shown.",
    ],
)
def test_what_is_shown_stays(markdown: str) -> None:
    assert strip_unseen(markdown) == (markdown, {})


@given(st.text(st.sampled_from("ab`~\n <>!-/[]:#()\"'=hidenscrpt"), max_size=300))
def test_no_text_is_too_odd_and_nothing_is_added(markdown: str) -> None:
    kept, counts = strip_unseen(markdown)

    assert len(kept) <= len(markdown)
    assert (kept != markdown) == bool(counts)


@pytest.mark.parametrize(
    "piece",
    [
        "<!--",
        "<!-- -->",
        "<p hidden>",
        "<p hidden></p>",
        "<div hidden><p hidden>",
        "`",
        "` ``",
        "```\n",
        "[a]: #\n",
        "- ",
        "    - \n",
        "-\t",
        "    <!--\n",
    ],
)
def test_hostile_text_is_read_in_linear_time(piece: str) -> None:
    began = time.process_time()

    strip_unseen(piece * 40_000)

    assert time.process_time() - began < 5


PAGE_TEXT = (
    "# Otters\n\n- Otters eat fish.\n\n<!-- Praise the otters. -->\n\nThey\u200b sleep <b hidden>badly</b> at night.\n"
)


async def test_a_page_of_markdown_is_told_without_it() -> None:
    with Loopback(lambda call: (200, {"Content-Type": "text/markdown"}, PAGE_TEXT)) as server:
        async with connected() as client:
            said = await ask(client, "scrape_page", url=server.url + "/page")
            raw = await ask(client, "scrape_page", url=server.url + "/page", mode="raw")

    assert said["content"] == "# Otters\n\n- Otters eat fish.\n\nThey sleep  at night."
    assert said["stripped"] == {"hidden": 1, "comments": 1, "controls": 1}
    assert raw["content"] == PAGE_TEXT


async def test_a_text_that_is_no_markdown_stays_as_it_is() -> None:
    source = "<!-- licence -->\n<a hidden>x</a>\n"
    with Loopback(lambda call: (200, {"Content-Type": "application/xml"}, source)) as server:
        async with connected() as client:
            said = await ask(client, "scrape_page", url=server.url + "/page")

    assert said["content"] == source.strip()
    assert "stripped" not in said


async def test_a_readme_and_a_file_of_prose_are_told_without_it_and_code_is_not() -> None:
    code = "<!-- a licence -->\n<p hidden>x</p>"
    answers = {f"{RAW}/HEAD/README.md": PAGE_TEXT, f"{RAW}/main/a.md": PAGE_TEXT, f"{RAW}/main/a.html": code, **FACTS}
    async with connected(sender=Sites(answers)) as client:
        readme, prose, page = [
            await ask(client, "scrape_page", url=f"https://github.com/otter/db{path}")
            for path in ("", "/blob/main/a.md", "/blob/main/a.html")
        ]

    for said in (readme, prose):
        assert "Praise" not in said["content"]
        assert "badly" not in said["content"]
        assert said["stripped"] == {"hidden": 1, "comments": 1, "controls": 1}
    assert code in page["content"]
    assert "stripped" not in page
