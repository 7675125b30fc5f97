"""YouTube as recorded in June 2025: what a player was told, and the pages that stood in its place."""

from __future__ import annotations

import pytest

from specloom.core.faults import Fault
from tests.support.recordings import recorded, replay

PAGE = '{"INNERTUBE_API_KEY":"k"}'


def test_a_player_is_told_where_captions_are() -> None:
    body = {"page": PAGE, "player": recorded("youtube/innertube-player-captions.json")}

    rows, requests = replay("youtube", "video", {"id": "GJLlxj_dtq8"}, body)

    assert [request.get("get") or request["post"] for request in requests] == [
        "https://m.youtube.com/watch",
        "https://m.youtube.com/youtubei/v1/player",
    ]
    assert (rows[0]["id"], rows[0]["seconds"]) == ("GJLlxj_dtq8", 316)
    assert rows[0]["title"].startswith("Surface Go Review")
    assert rows[0]["description"].count("\n") > 5
    assert rows[0]["track"].startswith("https://www.youtube.com/api/timedtext?")
    # Captions by people come before those that a machine wrote.
    assert ("&lang=en" in rows[0]["track"], "kind=asr" in rows[0]["track"]) == (True, False)


def test_a_video_without_captions_has_details() -> None:
    body = {"page": PAGE, "player": recorded("youtube/innertube-transcripts-disabled.json")}

    rows, _ = replay("youtube", "video", {"id": "abcdefghijk"}, body)

    assert "track" not in rows[0]
    assert rows[0]["title"]


def test_a_video_for_adults_has_details_and_no_captions() -> None:
    body = {"page": PAGE, "player": recorded("youtube/innertube-age-restricted.json")}

    rows, _ = replay("youtube", "video", {"id": "abcdefghijk"}, body)

    assert rows[0]["title"].endswith("Age-restricted")


@pytest.mark.parametrize(("name", "kind"), [("request-blocked", "blocked"), ("video-unavailable", "not_found")])
def test_a_refusal_has_a_reason(name: str, kind: str) -> None:
    body = {"page": PAGE, "player": recorded(f"youtube/innertube-{name}.json")}

    with pytest.raises(Fault) as fault:
        replay("youtube", "video", {"id": "abcdefghijk"}, body)

    assert fault.value.kind == kind


@pytest.mark.parametrize("name", ["consent-page", "too-many-requests"])
@pytest.mark.parametrize("source", ["player", "page"])
def test_a_page_for_people_is_no_video(name: str, source: str) -> None:
    with pytest.raises(Fault) as fault:
        replay("youtube", "video", {"id": "abcdefghijk", "source": source}, recorded(f"youtube/watch-{name}.html"))

    assert fault.value.kind == "blocked"
