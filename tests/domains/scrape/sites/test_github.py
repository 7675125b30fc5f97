"""GitHub as a page: a README with what is known of its repository, one file, a gist."""

from __future__ import annotations

from typing import Any

import pytest

from specloom.core.faults import Fault
from specloom.core.messages import Response
from specloom.domains.scrape.result import Page
from tests.support.site_context import GONE, SiteDesk
from tests.support.site_context import page_of as read_page

API = "https://api.github.com"
RAW = "https://raw.githubusercontent.com/otter/db"
REPOSITORY = {
    "full_name": "otter/db",
    "html_url": "https://github.com/otter/db",
    "description": "A database",
    "license": {"spdx_id": "MIT"},
    "topics": ["otters"],
    "stargazers_count": 1900,
    "forks_count": 34,
    "open_issues_count": 5,
    "created_at": "2020-01-01T00:00:00Z",
    "pushed_at": "2026-03-01T10:00:00Z",
    "archived": False,
    "disabled": False,
    "fork": False,
    "owner": {"login": "otter", "type": "Organization"},
}
OWNER = {
    "login": "otter",
    "type": "Organization",
    "created_at": "2019-01-01T00:00:00Z",
    "public_repos": 12,
    "followers": 7,
    "is_verified": True,
}
LAST = '<https://api.github.com/x?page=2>; rel="next", <https://api.github.com/x?per_page=1&page=31>; rel="last"'
FACTS = {
    f"{API}/repos/otter/db": REPOSITORY,
    f"{API}/orgs/otter": OWNER,
    f"{API}/repos/otter/db/contributors": Response(200, {"link": LAST}, b"[{}]"),
    f"{API}/repos/otter/db/releases": [],
    f"{API}/repos/otter/db/community/profile": {
        "health_percentage": 85,
        "files": {"license": {}, "readme": {"url": "x"}},
    },
}


async def page_of(url: str, answers: dict[str, Any], *, max_length: int = 50_000) -> tuple[Page, SiteDesk]:
    context = SiteDesk(answers, otherwise=GONE)
    return await read_page(url, context, max_length=max_length), context


async def test_a_repository_is_its_readme_with_what_speaks_for_it() -> None:
    page, context = await page_of(
        "https://github.com/otter/db", {f"{RAW}/HEAD/README.md": "# Otter DB\n\nTiny.\n", **FACTS}
    )

    assert page.content == "# Otter DB\n\nTiny."
    assert (page.title, page.authors, page.published) == ("otter/db: A database", ("otter",), "2026-03-01T10:00:00Z")
    assert (page.content_type, page.extracted_by, page.url) == ("github", "github:raw", "https://github.com/otter/db")
    assert page.repository == {
        "repo": {
            "stargazersCount": 1900,
            "forksCount": 34,
            "openIssuesCount": 5,
            "createdAt": "2020-01-01T00:00:00Z",
            "pushedAt": "2026-03-01T10:00:00Z",
            "archived": False,
            "disabled": False,
            "fork": False,
            "license": "MIT",
            "topics": ["otters"],
        },
        "owner": {
            "login": "otter",
            "type": "Organization",
            "createdAt": "2019-01-01T00:00:00Z",
            "publicRepos": 12,
            "followers": 7,
            "isVerified": True,
        },
        "community": {
            "healthPercentage": 85,
            "hasLicense": True,
            "hasContributing": False,
            "hasCodeOfConduct": False,
            "hasReadme": True,
        },
        "contributorCount": 31,
        "releaseCount": 0,
    }
    assert len(context.sent) == 6


async def test_a_readme_of_another_name_is_found() -> None:
    page, _ = await page_of("https://github.com/otter/db", {f"{API}/repos/otter/db/readme": "Otter DB\n====", **FACTS})

    assert page.content == "Otter DB\n===="
    assert page.extracted_by == "github:contents-api"


async def test_a_readme_is_asked_for_elsewhere_when_its_host_fails() -> None:
    page, _ = await page_of(
        "https://github.com/otter/db",
        {
            f"{RAW}/HEAD/README.md": Response(503, {}, b"down"),
            f"{API}/repos/otter/db/readme": "Otter DB\n====",
            **FACTS,
        },
    )

    assert page.content == "Otter DB\n===="


async def test_every_fact_can_be_missing() -> None:
    used_up = Response(403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1772521242"}, b"{}")

    page, _ = await page_of(
        "https://github.com/otter/db",
        {f"{RAW}/HEAD/README.md": "# Otter DB", **dict.fromkeys(FACTS, used_up)},
    )

    assert page.content == "# Otter DB"
    assert page.title == "otter/db"
    assert page.repository is None


async def test_a_repository_without_a_readme_is_what_is_known_of_it() -> None:
    page, _ = await page_of("https://github.com/otter/db", FACTS)

    assert page.content == "# otter/db\n\nA database\n\nThis repository has no README."


async def test_a_repository_that_is_not_there_is_not_found() -> None:
    with pytest.raises(Fault, match="The repository otter/db on GitHub does not exist") as fault:
        await page_of("https://github.com/otter/db", {})

    assert fault.value.kind == "not_found"


async def test_a_readme_that_fails_where_nothing_else_is_known_tells_why() -> None:
    down = Response(503, {}, b"down")

    with pytest.raises(Fault) as fault:
        await page_of("https://github.com/otter/db", {f"{RAW}/HEAD/README.md": down, f"{API}/repos/otter/db": down})

    assert fault.value.kind == "upstream_unavailable"


async def test_a_file_is_a_block_of_its_language() -> None:
    page, context = await page_of(
        "https://github.com/otter/db/blob/feature/deep/src/a%20b.py", {f"{RAW}/feature/deep/src/a%20b.py": "print(1)\n"}
    )

    assert page.content == "```py\nprint(1)\n```"
    assert page.title == "otter/db: a b.py"
    assert len(context.sent) == 1


@pytest.mark.parametrize(
    ("mark", "named", "lines"),
    [
        ("#L2", "line 2", "two()"),
        ("#L2-L3", "lines 2 to 3", "two()\nthree()"),
        ("#L3C1-L2C4", "lines 2 to 3", "two()\nthree()"),
        ("#L2-9", "lines 2 to 9", "two()\nthree()"),
        ("#L80", "", ""),
        ("#two", "", ""),
    ],
)
async def test_the_lines_that_are_linked_to_come_first(mark: str, named: str, lines: str) -> None:
    text = "one()\ntwo()\nthree()\n"
    page, _ = await page_of(f"https://github.com/otter/db/blob/main/a.py{mark}", {f"{RAW}/main/a.py": text})

    whole = f"```py\n{text.strip()}\n```"
    head = f"{named.capitalize()} of the file, and then all of it:\n\n```py\n{lines}\n```\n\n" if named else ""
    assert page.content == head + whole
    assert page.title == "otter/db: a.py" + (f", {named}" if named else "")


async def test_a_text_is_no_block() -> None:
    page, _ = await page_of("https://github.com/otter/db/blob/main/NOTES.md", {f"{RAW}/main/NOTES.md": "# Notes\n"})

    assert page.content == "# Notes"


async def test_a_file_that_is_not_there_is_not_found() -> None:
    with pytest.raises(Fault, match=r"The file main/gone.py of otter/db on GitHub does not exist"):
        await page_of("https://github.com/otter/db/blob/main/gone.py", {})


async def test_a_gist_is_all_of_its_files_by_name() -> None:
    files = {
        "b.py": {"filename": "b.py", "content": "swim()\n"},
        "a.md": {"filename": "a.md", "content": "Some *notes*\n", "truncated": True},
    }
    gist = {
        "description": "Two otters",
        "owner": {"login": "ann"},
        "created_at": "2026-03-01T10:00:00Z",
        "files": files,
    }

    page, _ = await page_of("https://gist.github.com/ann/aa5a31", {f"{API}/gists/aa5a31": gist})

    assert page.content == "# Two otters\n\n## a.md\n\nSome *notes*\n\n## b.py\n\n```py\nswim()\n```"
    assert (page.title, page.authors, page.published) == ("Two otters", ("ann",), "2026-03-01T10:00:00Z")
    assert page.extracted_by == "github:gist-api"
    assert page.truncated


async def test_a_gist_without_a_word_about_it_is_by_somebody() -> None:
    files = {"a": {"filename": "a", "content": "x"}}

    page, _ = await page_of(
        "https://gist.github.com/aa5a31", {f"{API}/gists/aa5a31": {"files": files, "owner": {"login": "ann"}}}
    )

    assert page.title == "Gist by ann"


async def test_a_gist_that_is_not_there_is_not_found() -> None:
    with pytest.raises(Fault, match="The gist aa5a31 does not exist"):
        await page_of("https://gist.github.com/aa5a31", {})
