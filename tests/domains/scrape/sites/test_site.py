"""Which addresses are read through the API of their site, and what every such page has in common."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.templates import template_environment
from specloom.domains.scrape.sites import cut, to_forum_signals
from specloom.model.provider import parse_address
from tests.support.site_context import match

VIDEO = "dQw4w9WgXcQ"


@pytest.mark.parametrize(
    ("url", "site", "kind"),
    [
        (f"https://www.youtube.com/watch?v={VIDEO}&t=42s", "youtube", "video"),
        (f"https://youtu.be/{VIDEO}?si=x", "youtube", "video"),
        (f"http://m.youtube.com/shorts/{VIDEO}", "youtube", "video"),
        (f"https://youtube.com/embed/{VIDEO}", "youtube", "video"),
        (f"https://www.youtube.com/live/{VIDEO}?feature=share", "youtube", "video"),
        (f"https://www.youtube.com/v/{VIDEO}", "youtube", "video"),
        (f"https://www.youtube.com/watch/{VIDEO}", "youtube", "video"),
        (f"https://www.youtube.com/e/{VIDEO}", "youtube", "video"),
        (f"https://www.youtube.com/?v={VIDEO}", "youtube", "video"),
        (f"https://www.youtube.com/attribution_link?a=x&u=%2Fwatch%3Fv%3D{VIDEO}", "youtube", "video"),
        (
            f"https://consent.youtube.com/m?continue=https%3A%2F%2Fwww.youtube.com%2Fwatch%3Fv%3D{VIDEO}&gl=DE",
            "youtube",
            "video",
        ),
        (f"https://music.youtube.com/watch?list=x&v={VIDEO}", "youtube", "video"),
        (f"https://www.youtube-nocookie.com/embed/{VIDEO}", "youtube", "video"),
        ("https://news.ycombinator.com/item?id=901", "hackernews", "item"),
        ("https://news.ycombinator.com/user?id=ann_b-1", "hackernews", "user"),
        ("https://news.ycombinator.com", "hackernews", "list"),
        ("https://news.ycombinator.com/news", "hackernews", "list"),
        ("https://news.ycombinator.com/newest", "hackernews", "list"),
        ("https://news.ycombinator.com/jobs", "hackernews", "list"),
        ("https://github.com/otter/db", "github", "repository"),
        ("https://www.github.com/otter/db.git/", "github", "repository"),
        ("https://github.com/otter/db#readme", "github", "repository"),
        ("https://github.com/otter/db/blame/main/a.py#L3", "github", "file"),
        ("https://gist.github.com/ann/aa5a315d61ae", "github", "gist"),
        ("https://gist.github.com/aa5a31", "github", "gist"),
        ("https://bsky.app/profile/ann.example.org", "bluesky", "profile"),
        ("https://bsky.app/profile/did:plc:otter/post/3kxyz", "bluesky", "post"),
        ("https://x.com/ann/status/1800000000000000001", "twitter", "post"),
        ("https://mobile.twitter.com/ann/status/18/photo/1", "twitter", "post"),
        ("https://x.com/i/web/status/18", "twitter", "post"),
        ("https://x.com/ann/article/18", "twitter", "post"),
        ("https://nitter.net/ann/status/18#m", "twitter", "post"),
        ("https://fxtwitter.com/i/status/18", "twitter", "post"),
        ("https://twitter.com/Ann_1", "twitter", "profile"),
        ("https://old.reddit.com/r/otters/comments/1abcde/otters_return/", "reddit", "post"),
        ("https://www.reddit.com/comments/1abcde", "reddit", "post"),
        ("https://www.reddit.com/user/ann/comments/1ABCDE/x", "reddit", "post"),
        ("https://sh.reddit.com/r/otters/comments/1abcde/x/", "reddit", "post"),
        ("https://www.reddit.com/r/otters/comments/1abcde/otters/kCommen/?context=3", "reddit", "post"),
        ("https://www.reddit.com/r/otters/comments/1abcde/comment/kcommen/", "reddit", "post"),
        ("https://redd.it/1abcde", "reddit", "post"),
        ("https://WWW.YouTube.com.:443/watch?v=" + VIDEO, "youtube", "video"),
    ],
)
def test_an_address_names_a_page_of_a_site(url: str, site: str, kind: str) -> None:
    found = match(url)

    assert found is not None
    assert (found.page.name, found.page.kind) == (site, kind)


@pytest.mark.parametrize(
    "url",
    [
        f"https://youtube.com.evil.example/watch?v={VIDEO}",
        f"https://evilyoutube.com/watch?v={VIDEO}",
        f"https://evil.example/youtube.com/watch?v={VIDEO}",
        f"https://www.youtube.com@evil.example/watch?v={VIDEO}",
        f"https://user@www.youtube.com/watch?v={VIDEO}",
        f"https://www.youtube.com:8443/watch?v={VIDEO}",
        f"ftp://www.youtube.com/watch?v={VIDEO}",
        "https://www.youtube.com/watch?v=tooshort",
        f"https://www.youtube.com/watch?v={VIDEO}x",
        "https://www.youtube.com/attribution_link?u=%2Fattribution_link%3Fu%3D%2Fattribution_link",
        f"https://www.youtube.com/attribution_link?u=https%3A%2F%2Fevil.example%2Fwatch%3Fv%3D{VIDEO}",
        "https://consent.youtube.com/m?continue=https%3A%2F%2Fconsent.youtube.com%2Fm",
        "https://consent.youtube.com/m",
        "https://www.youtube.com/embed/videoseries?list=PL1",
        "https://www.youtube.com/embed/live_stream?channel=UC1",
        "https://www.youtube.com/@otters",
        "https://www.youtube.com/",
        "https://youtu.be/",
        "https://news.ycombinator.com/news?p=2",
        "https://news.ycombinator.com/item?id=0",
        "https://news.ycombinator.com/item?id=123456789012",
        "https://news.ycombinator.com/item?id=1x",
        "https://news.ycombinator.com/user?id=a%2Fb",
        "https://news.ycombinator.com/from?site=example.org",
        "https://news.ycombinator.com.evil.example/item?id=1",
        "https://github.com/",
        "https://github.com/otter",
        "https://github.com/topics/otters",
        "https://github.com/Settings/profile",
        "https://github.com/advisories/GHSA-aaaa-bbbb-cccc",
        "https://github.com/resources/articles",
        "https://github.com/otter/db/issues/1",
        "https://github.com/otter/db/pull/1",
        "https://github.com/otter/db/wiki",
        "https://github.com/otter/db/tree/main/src",
        "https://github.com/otter/db/blob/main",
        "https://github.com/otter/db/blob/main/logo.PNG",
        "https://github.com/otter/db/blob/main/%2E%2E/secret",
        "https://github.com/otter/%2E%2E",
        "https://github.com/ot%2Fter/db",
        "https://gist.github.com/ann",
        "https://gist.github.com/ann/aa5a31/raw",
        "https://notgithub.com/otter/db",
        "https://bsky.app/profile/ann",
        "https://bsky.app/profile/ann.example.org/feed/x",
        "https://bsky.app/search",
        "https://x.com/home",
        "https://x.com/i/lists/1",
        "https://x.com/ann/likes",
        "https://x.com/ann/status/x",
        "https://notx.com/ann",
        "https://www.reddit.com/r/otters/",
        "https://www.reddit.com/r/otters/comments/1abcde/otters/kcommen/x/",
        "https://www.reddit.com/r/otters/comments/1abcde/otters/no-id/",
        "https://reddit.com.evil.example/comments/1abcde",
        "https://redd.it/a/b",
        "not an address",
        "https://[::1",
        "",
    ],
)
def test_everything_else_is_read_like_any_page(url: str) -> None:
    assert match(url) is None


@pytest.mark.parametrize(
    "url",
    [
        "https://youtube.com",
        "https://news.ycombinator.com",
        "https://github.com",
        "https://bsky.app",
        "https://x.com",
        "https://reddit.com",
    ],
)
@given(rest=st.text(alphabet="/ab1.?=&%:#@v-_~id", max_size=40))
def test_no_path_is_too_odd_to_be_looked_at(url: str, rest: str) -> None:
    route = match(f"{url}/{rest}")

    parts = route.context.parts.values() if route else ()
    assert not any("/" in part for part in parts if isinstance(part, str))


@given(st.text(max_size=60))
def test_no_text_is_too_odd_to_be_taken_apart(text: str) -> None:
    address = parse_address(text)

    assert address is None or address.url == text.strip()


@pytest.mark.parametrize(
    ("url", "fallback"),
    [
        ("https://twitter.com/ann/status/18?s=20", "https://xcancel.com/ann/status/18"),
        ("https://x.com/ann", "https://xcancel.com/ann"),
        ("https://www.reddit.com/comments/1abcde", "https://www.reddit.com/comments/1abcde"),
        ("https://nitter.net/ann/status/18", "https://xcancel.com/ann/status/18"),
        ("https://bsky.app/profile/ann.example.org/post/3k", "https://bsky.app/profile/ann.example.org/post/3k"),
        (f"https://youtu.be/{VIDEO}", ""),
    ],
)
def test_a_route_says_what_else_can_be_read(url: str, fallback: str) -> None:
    route = match(url)

    assert route is not None
    assert route.route.fallback == fallback


@pytest.mark.parametrize(
    ("number", "text"), [(None, "0"), (0, "0"), (999, "999"), (1000, "1.0K"), (1249, "1.2K"), (3_400_000, "3.4M")]
)
def test_numbers_are_shortened(number: int | None, text: str) -> None:
    assert filters()["short"](number) == text


def filters() -> Any:
    """What templates of pages may call."""
    return template_environment().filters


@given(st.text(), st.integers(0, 40))
def test_a_text_is_cut_between_characters(text: str, limit: int) -> None:
    short, was_cut = cut(text, limit)

    assert len(short.encode("utf-8", "replace")) <= limit or not was_cut
    assert was_cut == (len(text.encode("utf-8", "replace")) > limit)


@given(st.text(alphabet="`a\n ", max_size=30))
def test_nothing_in_a_block_closes_it(text: str) -> None:
    first, *lines, last = filters()["fence"](text).split("\n")

    assert first == last
    assert not any(line.strip() and set(line.strip()) == {"`"} and len(line.strip()) >= len(first) for line in lines)


@pytest.mark.parametrize(("points", "noted"), [(0, True), (19, True), (20, False), (-3, False), (None, False)])
def test_few_votes_are_remarked_on(points: int | None, noted: bool) -> None:
    forum = {"platform": "reddit"} | ({} if points is None else {"votes": points})
    signals = to_forum_signals(forum, "https://www.reddit.com/")

    assert ("credibilityNote" in signals) is noted
    assert signals["upvotes"] == (-1 if points is None else points)
    assert signals["comments"] == -1
