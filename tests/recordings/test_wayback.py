"""The availability answers of the Wayback Machine as its documentation gives them."""

from __future__ import annotations

from tests.support.recordings import recorded, replay


def test_the_closest_copy_has_a_safe_address_and_its_time() -> None:
    rows, requests = replay(
        "wayback", "snapshots", {"url": "example.com"}, recorded("wayback/doc-example-availability.json")
    )

    assert [request["get"] for request in requests] == ["https://archive.org/wayback/available"]
    assert rows == [
        {
            "snapshot_url": "https://web.archive.org/web/20130919044612/http://example.com/",
            "captured_at": "2013-09-19T04:46:12Z",
            "status_code": 200,
        }
    ]


def test_nothing_archived_is_an_answer_without_rows() -> None:
    body = recorded("wayback/doc-example-availability-none.json")

    assert replay("wayback", "snapshots", {"url": "example.com"}, body)[0] == []
