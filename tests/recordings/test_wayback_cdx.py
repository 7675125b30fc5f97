"""The Wayback Machine's index as recorded on 2022-10-26, in lines, which stand here in the table that JSON would be."""

from __future__ import annotations

import pytest

from specloom.core.faults import Fault
from tests.support.recordings import recorded, replay

COLUMNS = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]


def table(name: str) -> list[list[str]]:
    """The recorded lines as rows below the names of their columns."""
    lines = [line.split(" ") for line in recorded(name).decode().splitlines()]
    return [COLUMNS, *(cells for cells in lines if len(cells) == len(COLUMNS))]


def test_a_capture_has_its_address_its_time_and_where_the_copy_is() -> None:
    rows, requests = replay("wayback_cdx", "captures", {"domain": "energystar.gov"}, table("wayback/cdx-revisits.txt"))

    assert requests[0]["query"]["matchType"] == "host"
    assert rows[0] == {
        "url": "http://energystar.gov/",
        "captured_at": "2020-06-12T01:40:07Z",
        "snapshot_url": "https://web.archive.org/web/20200612014007/http://energystar.gov/",
        "status_code": 301,
        "mime_type": "text/html",
        "category": "other",
    }
    assert "status_code" not in rows[1], "a copy of an earlier copy has no status"
    assert rows[1]["mime_type"] == "warc/revisit"


def test_an_excluded_site_is_told_apart_from_one_that_nobody_archived() -> None:
    with pytest.raises(Fault) as fault:
        replay(
            "wayback_cdx",
            "captures",
            {"domain": "nationalpost.com"},
            recorded("wayback/error-403-blocked.txt"),
            status=403,
        )

    assert fault.value.kind == "blocked"
    assert fault.value.message == "this site is excluded from the Wayback Machine"


def test_nothing_archived_is_an_empty_body() -> None:
    rows, _ = replay(
        "wayback_cdx", "captures", {"domain": "cnn.com"}, recorded("wayback/cdx-resume-key-last-empty.txt")
    )

    assert rows == []
