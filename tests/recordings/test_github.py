"""GitHub as recorded on 2014-01-11; what the specs read was called the same then."""

from __future__ import annotations

import pytest

from specloom.core.faults import Fault
from tests.support.recordings import recorded, replay


def test_an_issue_has_its_state_its_author_and_the_opening_of_its_text() -> None:
    rows, requests = replay(
        "github", "web", {"query": "http author:jasonrudolph"}, recorded("github/search-issues.json")
    )

    assert [request["get"] for request in requests] == ["https://api.github.com/search/issues"]
    assert len(rows) == 10
    text = rows[0].pop("extra_snippets")
    assert rows[0] == {
        "title": "Clarify pagination via `since` parameter",
        "url": "https://github.com/github/developer.github.com/pull/262",
        "snippet": "#262 [closed] pull request · 1 comments · by jasonrudolph",
        "display_link": "github.com",
        "published_at": "2013-06-11T14:15:21Z",
        "engagement": {"commentCount": 1},
    }
    assert len(text) == 1
    assert text[0].startswith(
        "This Pull Request attempts to clarify the documentation as discussed in https://github.com/"
    )
    assert text[0].endswith("/cc @watsonian…")


def test_issues_are_read_as_news_as_well() -> None:
    rows, requests = replay(
        "github", "news", {"query": "http", "sort_by": "date"}, recorded("github/search-issues.json")
    )

    assert requests[0]["query"]["sort"] == "created"
    assert [row["source"] for row in rows] == ["github.com"] * 10
    assert rows[0]["published_at"] == "2013-06-11T14:15:21Z"


def test_repositories_have_their_stars_and_the_day_of_the_last_push() -> None:
    rows, _ = replay(
        "github", "awesome_lists", {"topics": ["tetris"]}, recorded("github/search-repositories-first-10.json")
    )

    assert len(rows) == 10
    assert rows[0] == {
        "name": "cjauvin/tetris-c64",
        "full_name": "cjauvin/tetris-c64",
        "url": "https://github.com/cjauvin/tetris-c64",
        "description": "A stripped down Tetris clone for the C64, in 6502 assembly",
        "stars": 7,
        "last_synced_at": "2012-07-01T00:38:14Z",
    }
    assert "topics" not in rows[0], "topics came later than the recording"


def test_a_repository_is_counted_and_dated() -> None:
    rows, requests = replay(
        "github_content", "repository", {"owner": "o", "name": "r"}, recorded("github/repository.json")
    )

    assert [request["get"] for request in requests] == ["https://api.github.com/repos/o/r"]
    for name in ("full_name", "url", "stars", "forks", "open_issues", "created_at", "pushed_at", "owner", "owner_kind"):
        assert name in rows[0], name
    assert rows[0]["url"] == f"https://github.com/{rows[0]['full_name']}"


def test_a_used_up_allowance_is_no_repository() -> None:
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1516994313"}

    with pytest.raises(Fault) as fault:
        replay(
            "github_content",
            "repository",
            {"owner": "o", "name": "r"},
            recorded("github/rate-limit.json"),
            status=403,
            headers=headers,
            now="2018-01-26T19:00:00Z",
        )

    assert (fault.value.kind, fault.value.retry_after) == ("rate_limited", 1113)
