"""Pages of known sites through scrape_page and a client: every form that is read over an API, and what is told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import pytest

from specloom.core.messages import Request, Response
from tests.domains.scrape.sites.test_github import FACTS, RAW
from tests.domains.scrape.sites.test_hackernews import API as FIREBASE
from tests.domains.scrape.sites.test_hackernews import story
from tests.domains.scrape.sites.test_social import BLUESKY, MIRROR, REDDIT, comment, listing, post
from tests.domains.scrape.sites.test_youtube import CAPTIONS, DESKTOP, KEY, LONG, MOBILE, PLAYER, in_page, told, track
from tests.support.scrape_client import ask, connected, refused

VIDEO = "https://www.youtube.com/watch?v=otter-12345"
TRACK = f"{CAPTIONS}?v=otter-12345&signature=s&lang=en&fmt=vtt"
OLD = f"{CAPTIONS}?v=otter-12345&lang=en-US&fmt=vtt"
DESCRIBED = told(shortDescription="They swim in the river all day long.")
ITEM = {f"{FIREBASE}/item/901.json": story(901, score=212, descendants=1, kids=[902])}
ANSWER = {f"{FIREBASE}/item/902.json": {"id": 902, "by": "eve", "type": "comment", "text": "Tiny &amp; <i>fast</i>"}}
LISTS = {f"{FIREBASE}/{name}stories.json": [901] for name in ("top", "new", "best", "ask", "show", "job")}
PERSON = {f"{FIREBASE}/user/ann.json": {"id": "ann", "karma": 1234, "created": 1772359200, "about": "I <i>swim</i>"}}
USER = {"screen_name": "ann", "name": "Ann"}
TWEET = {"id": "18", "text": "Otters!", "likes": 1200, "author": {"screen_name": "ann", "name": "Ann"}}
GIST = {
    "description": "Two otters",
    "owner": {"login": "ann"},
    "files": {"a.md": {"filename": "a.md", "content": "*x*"}},
}
PROFILE = {"handle": "ann.example.org", "displayName": "Ann", "description": "I swim.", "followersCount": 1}
THREAD = {"thread": {"post": post("3k0", "Otters!", likeCount=19, replyCount=0), "replies": []}}
PAGE = "<html><head><title>Otters</title></head><body><article><h1>Otters</h1>" + (
    "<p>Otters sleep on their backs and hold hands so that they do not drift apart in the night.</p>" * 5
)


class Sites:
    """A way out that answers by address, with or without its query; nothing else is there."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers
        self.sent: list[str] = []

    async def send(self, request: Request) -> Response:
        query = urlencode([(name, str(value)) for name, value in request.query])
        whole = f"{request.url}?{query}" if query else request.url
        self.sent.append(whole)
        found = self.answers.get(whole, self.answers.get(request.url))
        if found is None:
            return Response(404, {"content-type": "text/html"}, b"Not Found", request.url)
        if isinstance(found, Response):
            return found
        body = found if isinstance(found, str) else json.dumps(found)
        kind = "text/html" if body.startswith("<") else "application/json"
        return Response(200, {"content-type": kind}, body.encode(), request.url)

    async def aclose(self) -> None:
        """Nothing is open."""


FORMS: dict[str, tuple[str, dict[str, Any], tuple[str, str], str]] = {
    "YouTube: captions that the player is told": (
        VIDEO, {MOBILE: KEY, PLAYER: told(track("en")), TRACK: LONG}, ("youtube", "youtube"), "[0:01] Otter number 0",
    ),
    "YouTube: captions in the page": (
        VIDEO, {DESKTOP: in_page(told(track("en"))), TRACK: LONG}, ("youtube", "youtube"), "[0:01] Otter number 0",
    ),
    "YouTube: captions at the old address": (
        VIDEO, {MOBILE: KEY, PLAYER: told(), OLD: LONG}, ("youtube", "youtube"), "[0:01] Otter number 0",
    ),
    "YouTube: a description where there are no captions": (
        VIDEO, {MOBILE: KEY, PLAYER: DESCRIBED}, ("youtube", "youtube"), "[Video: Otters swim]\n\nThey swim",
    ),
    "YouTube: a short": (
        "https://youtube.com/shorts/otter-12345", {MOBILE: KEY, PLAYER: DESCRIBED}, ("youtube", "youtube"), "[Video:",
    ),
    "Hacker News: a story": (
        "https://news.ycombinator.com/item?id=901", ITEM | ANSWER, ("hn", "hackernews:api"), "### eve\n\nTiny & *fast*",
    ),
    **{
        f"Hacker News: /{page}": (
            f"https://news.ycombinator.com/{page}", LISTS | ITEM, ("hn", "hackernews:api"), "1. [Story 901][1]",
        )
        for page in ("", "news", "newest", "best", "ask", "show", "jobs")
    },
    "Hacker News: a person": (
        "https://news.ycombinator.com/user?id=ann", PERSON, ("hn", "hackernews:api"), "1,234 karma",
    ),
    "GitHub: a repository": (
        "https://github.com/otter/db", {f"{RAW}/HEAD/README.md": "# Otters\n\nA database.", **FACTS},
        ("github", "github:raw"), "# Otters\n\nA database.",
    ),
    "GitHub: a file": (
        "https://github.com/otter/db/blob/main/swim.py", {f"{RAW}/main/swim.py": "def swim(): ..."},
        ("github", "github:raw"), "```py\ndef swim(): ...\n```",
    ),
    "GitHub: a gist": (
        "https://gist.github.com/ann/aa5a31", {"https://api.github.com/gists/aa5a31": GIST},
        ("github", "github:gist-api"), "# Two otters",
    ),
    "Bluesky: a post": (
        "https://bsky.app/profile/ann.example.org/post/3k0", {f"{BLUESKY}/app.bsky.feed.getPostThread": THREAD},
        ("bluesky", "bluesky:api"), "Otters!",
    ),
    "Bluesky: a profile": (
        "https://bsky.app/profile/ann.example.org", {f"{BLUESKY}/app.bsky.actor.getProfile": PROFILE},
        ("bluesky", "bluesky:api"), "I swim.",
    ),
    "X: a post": (
        "https://x.com/ann/status/18", {f"{MIRROR}/ann/status/18": {"code": 200, "tweet": TWEET}},
        ("twitter", "twitter"), "1.2K likes",
    ),
    "X: a profile": (
        "https://mobile.twitter.com/ann", {f"{MIRROR}/ann": {"code": 200, "user": USER}},
        ("twitter", "twitter"), "# Ann (@ann)",
    ),
    "X: a post on the mirror for people, where the API fails": (
        "https://twitter.com/ann/status/18",
        {f"{MIRROR}/ann/status/18": {"code": 500}, "https://xcancel.com/ann/status/18": PAGE},
        ("html", "html"), "hold hands",
    ),
    "Reddit: a post": (
        "https://old.reddit.com/r/otters/comments/1abcde/x/", {f"{REDDIT}.json": listing(comment(1, "Where?"))},
        ("reddit", "reddit:api"), "### u1 · 49 points\n\nWhere?",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
async def test_a_page_of_a_site_is_read_over_its_api(name: str) -> None:
    url, answers, (content_type, extracted_by), text = FORMS[name]
    sites = Sites(answers)

    async with connected(sender=sites) as client:
        said = await ask(client, "scrape_page", url=url)

    assert text in said["content"]
    assert (said["contentType"], said["extractedBy"]) == (content_type, extracted_by)
    assert said["trust"] == "untrusted-external-content"
    assert said["citation"]["metadata"]["title"]


SHORT = "https://t.co/otters"


def to(url: str, *, page: bool = False) -> Response:
    """A redirect, or a page that refreshes."""
    if page:
        text = f'<html><head><meta http-equiv="refresh" content="0;URL={url}"></head><body></body></html>'
        return Response(200, {"content-type": "text/html"}, text.encode())
    return Response(301, {"location": url}, b"")


@pytest.mark.parametrize("page", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        "YouTube: a short",
        "Hacker News: a story",
        "GitHub: a repository",
        "Bluesky: a post",
        "X: a post",
        "X: a post on the mirror for people, where the API fails",
        "Reddit: a post",
    ],
)
async def test_what_leads_to_a_page_of_a_site_is_read_over_its_api(name: str, page: bool) -> None:
    url, answers, (content_type, extracted_by), text = FORMS[name]
    sites = Sites({**answers, SHORT: to("https://between.example/"), "https://between.example/": to(url, page=page)})

    async with connected(sender=sites) as client:
        said = await ask(client, "scrape_page", url=SHORT)

    assert text in said["content"]
    assert (said["contentType"], said["extractedBy"]) == (content_type, extracted_by)
    assert sites.sent[:2] == [SHORT, "https://between.example/"]
    assert url not in sites.sent, "the site is asked for its data, and not for its page"


async def test_a_page_that_stands_in_for_a_site_may_lead_to_another_one_and_is_read_as_it_is() -> None:
    url = "https://twitter.com/ann/status/18"
    circle = {f"{MIRROR}/ann/status/18": {"code": 500}, "https://xcancel.com/ann/status/18": to("https://x.com/ann")}
    sites = Sites({**circle, SHORT: to(url), "https://x.com/ann": PAGE})

    async with connected(sender=sites) as client:
        said = await ask(client, "scrape_page", url=SHORT)

    assert (said["contentType"], said["url"]) == ("html", "https://x.com/ann")


async def test_a_site_outside_of_what_is_allowed_is_not_read_over_its_api_either() -> None:
    url, answers, _, _ = FORMS["GitHub: a repository"]
    sites = Sites({**answers, SHORT: to(url)})

    async with connected(sender=sites, ALLOWED_DOMAINS="t.co") as client:
        _, block = await refused(client, "scrape_page", url=SHORT)

    assert (block["kind"], sites.sent) == ("validation", [SHORT])


async def test_raw_follows_redirects_to_the_page_itself() -> None:
    sites = Sites({SHORT: to("https://github.com/otter/db"), "https://github.com/otter/db": PAGE})

    async with connected(sender=sites) as client:
        said = await ask(client, "scrape_page", url=SHORT, mode="raw")

    assert said["content"] == PAGE


@pytest.mark.parametrize(
    ("name", "platform", "upvotes"),
    [
        ("Hacker News: a story", "hackernews", 212),
        ("Bluesky: a post", "bluesky", 19),
        ("Reddit: a post", "reddit", 212),
    ],
)
async def test_a_discussion_has_its_signals(name: str, platform: str, upvotes: int) -> None:
    url, answers, _, _ = FORMS[name]

    async with connected(sender=Sites(answers)) as client:
        signals = (await ask(client, "scrape_page", url=url))["forumSignals"]

    assert (signals["platform"], signals["upvotes"]) == (platform, upvotes)
    assert ("credibilityNote" in signals) == (upvotes < 20)


async def test_a_repository_has_its_signals_and_a_video_its_highlights() -> None:
    url, answers, _, _ = FORMS["GitHub: a repository"]
    async with connected(sender=Sites(answers)) as client:
        trust = (await ask(client, "scrape_page", url=url))["githubTrustSignals"]
    url, answers, _, _ = FORMS["YouTube: captions that the player is told"]
    async with connected(sender=Sites(answers)) as client:
        highlights = (await ask(client, "scrape_page", url=url))["highlights"]

    assert (trust["repo"]["stargazersCount"], trust["contributorCount"], trust["releaseCount"]) == (1900, 31, 0)
    assert set(highlights[0]) == {"text", "score", "startTime"}


@pytest.mark.parametrize(
    ("url", "kind", "says"),
    [
        (VIDEO, "not_found", "youtube: "),
        ("https://news.ycombinator.com/item?id=901", "not_found", "hackernews: "),
        ("https://github.com/otter/db", "not_found", "github: "),
        ("https://gist.github.com/aa5a31", "not_found", "github: "),
        ("https://bsky.app/profile/ann.example.org", "not_found", "bluesky: "),
        ("https://x.com/ann/status/18", "not_found", "twitter: "),
        ("https://redd.it/1abcde", "not_found", "reddit: "),
    ],
)
async def test_a_page_that_a_site_does_not_have_is_not_found_and_asked_for_nowhere_else(
    url: str, kind: str, says: str
) -> None:
    missing = {f"{FIREBASE}/item/901.json": "null", MOBILE: KEY, PLAYER: {"playabilityStatus": {"status": "ERROR"}}}
    sites = Sites(missing)

    async with connected(sender=sites) as client:
        sentence, block = await refused(client, "scrape_page", url=url)

    assert (block["kind"], block["retryable"]) == (kind, False)
    assert block["detail"].startswith(says), block["detail"]
    assert url.partition("?")[0] in sentence
    assert not any("xcancel" in sent for sent in sites.sent)


async def test_where_the_api_and_the_page_fail_the_more_definitive_fault_tells_of_both() -> None:
    answers = {
        f"{MIRROR}/ann/status/18": {"code": 401, "message": "PRIVATE_TWEET"},
        "https://xcancel.com/ann/status/18": Response(403, {}, b"no"),
    }
    async with connected(sender=Sites(answers)) as client:
        sentence, block = await refused(client, "scrape_page", url="https://x.com/ann/status/18")

    assert block["kind"] == "auth_required"
    assert "https://x.com/ann/status/18" in sentence
    assert block["detail"].startswith("twitter: ")
    assert "html: HTTP 403" in block["detail"]


async def test_a_mirror_that_may_not_be_read_is_not_what_the_caller_is_told_of() -> None:
    sites = Sites({f"{MIRROR}/ann/status/18": {"code": 500}})
    async with connected(sender=sites, ALLOWED_DOMAINS="x.com") as client:
        sentence, block = await refused(client, "scrape_page", url="https://x.com/ann/status/18")

    assert sentence.startswith("Network error on https://x.com/ann/status/18: ")
    assert (block["kind"], "xcancel.com is refused" in block["detail"]) == ("network", True)
    assert not any("xcancel" in sent for sent in sites.sent)


async def test_a_video_with_nothing_to_read_says_so_itself() -> None:
    async with connected(sender=Sites({MOBILE: KEY, PLAYER: told()})) as client:
        sentence, block = await refused(client, "scrape_page", url=VIDEO)

    assert sentence.endswith("— The YouTube video otter-12345 has neither captions nor a description to read.")
    assert (block["kind"], block["suggestedAction"]) == ("content_empty", "inform_user")
