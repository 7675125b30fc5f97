"""What a Markdown text says of itself before it begins becomes metadata; a rule at its start is a rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.scrape.html.markdown_source import part_front_matter
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
