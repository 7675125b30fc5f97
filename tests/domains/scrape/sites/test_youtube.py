"""YouTube as a page: which captions are taken, how they become lines, and what stands in when there are none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.core.faults import Fault
from specloom.core.messages import Response
from specloom.domains.scrape.result import Page
from specloom.domains.scrape.sites import find_highlights
from specloom.language.decoders.registry import decode
from tests.support.site_context import GONE, SiteDesk
from tests.support.site_context import page_of as read_page

ID = "otter-12345"
MOBILE = f"https://m.youtube.com/watch?v={ID}&hl=en"
PLAYER = "https://m.youtube.com/youtubei/v1/player"
DESKTOP = f"https://www.youtube.com/watch?v={ID}&hl=en"
CAPTIONS = "https://www.youtube.com/api/timedtext"
KEY = '{"INNERTUBE_API_KEY":"k"}'
EMPTY = Response(200, {}, b"")


def track(language: str, *, automatic: bool = False) -> dict[str, Any]:
    heard = {"kind": "asr"} if automatic else {}
    return {"baseUrl": f"{CAPTIONS}?v={ID}&signature=s&lang={language}&fmt=srv3", "languageCode": language, **heard}


def told(*tracks: dict[str, Any], **details: Any) -> dict[str, Any]:
    return {
        "playabilityStatus": {"status": "OK"},
        "videoDetails": {"videoId": ID, "title": "Otters swim", "author": "Ann", **details},
        "captions": {"playerCaptionsTracklistRenderer": {"captionTracks": list(tracks)}},
    }


def in_page(value: dict[str, Any]) -> str:
    return f"<html><script>var ytInitialPlayerResponse = {json.dumps(value)};</script></html>"


def vtt(*texts: str) -> str:
    cues = [f"00:{at:02}:01.000 --> 00:{at:02}:03.000\n{text}\n" for at, text in enumerate(texts)]
    return "WEBVTT\nKind: captions\n\n" + "\n".join(cues)


LONG = vtt(*(f"Otter number {at} swims in the river" for at in range(5)))


async def page_of(answers: dict[str, Any], *, max_length: int = 50_000) -> tuple[Page, SiteDesk]:
    desk = SiteDesk({MOBILE: KEY, CAPTIONS: EMPTY, **answers})
    return await read_page(f"https://youtu.be/{ID}", desk, max_length=max_length), desk


def parse_captions(text: str) -> list[dict[str, Any]]:
    return decode("webvtt", Response(200, {"content-type": "text/vtt"}, text.encode()), {"blank_ok": True})


async def test_captions_that_the_player_is_told_become_lines_with_their_time() -> None:
    english = f"{CAPTIONS}?v={ID}&signature=s&lang=en&fmt=vtt"
    day = {"microformat": {"playerMicroformatRenderer": {"publishDate": "2026-03-01T10:00:00Z"}}}

    page, desk = await page_of({PLAYER: told(track("de"), track("en")), DESKTOP: in_page(told() | day), english: LONG})

    assert page.content.split("\n")[:2] == [
        "[0:01] Otter number 0 swims in the river",
        "[1:01] Otter number 1 swims in the river",
    ]
    assert (page.title, page.authors, page.published) == ("Otters swim", ("Ann",), "2026-03-01T10:00:00Z")
    assert (page.content_type, page.extracted_by, page.truncated) == ("youtube", "youtube", False)
    assert page.url == f"https://www.youtube.com/watch?v={ID}"
    assert len(page.highlights) == 5
    assert desk.sent.count(english) == 1


async def test_captions_with_nothing_in_them_lead_to_those_of_the_page() -> None:
    """An answer with nothing in it wants a proof of origin, and is not "no captions"."""
    other = track("en-GB")

    page, _ = await page_of(
        {
            PLAYER: told(track("en")),
            DESKTOP: in_page(told(other)),
            other["baseUrl"].replace("srv3", "vtt"): LONG,
        }
    )

    assert page.content.startswith("[0:01] Otter")


async def test_a_player_that_fails_leaves_the_page() -> None:
    page, _ = await page_of(
        {
            PLAYER: Fault("network", "no answer in time"),
            DESKTOP: in_page(told(track("en"))),
            f"{CAPTIONS}?v={ID}&signature=s&lang=en&fmt=vtt": LONG,
        }
    )

    assert page.content.startswith("[0:01] Otter")


async def test_the_old_address_is_asked_for_three_kinds_of_english() -> None:
    page, desk = await page_of(
        {PLAYER: told(), DESKTOP: in_page(told()), f"{CAPTIONS}?v={ID}&lang=en-GB&fmt=vtt": LONG}
    )

    assert page.content.startswith("[0:01] Otter")
    assert [sent.partition("lang=")[2] for sent in desk.sent[-3:]] == ["en&fmt=vtt", "en-US&fmt=vtt", "en-GB&fmt=vtt"]


async def test_captions_on_another_host_are_not_fetched() -> None:
    foreign = {"baseUrl": "https://www.youtube.com.evil.example/api/timedtext?v=x", "languageCode": "en"}

    page, desk = await page_of(
        {PLAYER: told(foreign, shortDescription="They swim in the river."), DESKTOP: in_page(told())}
    )

    assert page.content == "[Video: Otters swim]\n\nThey swim in the river."
    assert page.highlights == []
    assert not any("evil" in sent for sent in desk.sent)


async def test_a_refusal_is_no_transcript_however_long() -> None:
    page, _ = await page_of(
        {
            PLAYER: told(track("en"), shortDescription="They swim in the river."),
            DESKTOP: in_page(told()),
            f"{CAPTIONS}?v={ID}&signature=s&lang=en&fmt=vtt": Response(403, {}, LONG.encode()),
        }
    )

    assert page.content.startswith("[Video: Otters swim]")


async def test_a_few_words_are_no_transcript() -> None:
    page, _ = await page_of(
        {
            PLAYER: told(track("en"), shortDescription="They swim in the river."),
            DESKTOP: in_page(told()),
            f"{CAPTIONS}?v={ID}&signature=s&lang=en&fmt=vtt": vtt("Hello otters"),
        }
    )

    assert page.content.startswith("[Video: Otters swim]")


@pytest.mark.parametrize(
    ("player", "page", "kind"),
    [
        (told(shortDescription="Too short"), in_page(told()), "content_empty"),
        ({"playabilityStatus": {"status": "ERROR", "reason": "Gone"}}, in_page({"playabilityStatus": {}}), "not_found"),
        (
            {"playabilityStatus": {"status": "LOGIN_REQUIRED", "reason": "Robot?"}},
            '<div class="g-recaptcha">',
            "blocked",
        ),
        (Response(500, {}, b"down"), Response(429, {}, b"slow"), "rate_limited"),
        (Response(500, {}, b"down"), Response(500, {}, b"down"), "upstream_unavailable"),
    ],
)
async def test_a_video_with_nothing_to_read_says_why(player: Any, page: Any, kind: str) -> None:
    with pytest.raises(Fault) as fault:
        await page_of({PLAYER: player, DESKTOP: page, CAPTIONS: GONE})

    assert fault.value.kind == kind


async def test_a_transcript_is_no_longer_than_asked_for() -> None:
    page, _ = await page_of(
        {
            PLAYER: told(track("en")),
            DESKTOP: in_page(told()),
            f"{CAPTIONS}?v={ID}&signature=s&lang=en&fmt=vtt": LONG,
        },
        max_length=90,
    )

    assert page.content == "\n".join(LONG and [f"[{at}:01] Otter number {at} swims in the river" for at in range(2)])
    assert page.truncated


def test_what_is_no_cue_is_passed_over() -> None:
    text = (
        "\ufeffWEBVTT\nKind: captions\nLanguage: en\n\nNOTE made up\n\nSTYLE\n::cue {}\n\n7\n"
        "00:00:01.000 --> 00:00:03.000 align:start\n<v Ann>Hello &amp;\notters</v>\n\n"
        "01:02:03.500 --> 01:02:04.000\nBye\n\n"
        "00:05.000 --> 00:06.000\n \n"
    )

    assert [f"[{line['clock']}] {line['text']}" for line in parse_captions(text)] == [
        "[0:01] Hello & otters",
        "[1:02:03] Bye",
    ]


def test_lines_that_roll_up_are_told_once() -> None:
    text = (
        "WEBVTT\n\n00:00:00.000 --> 00:00:02.000 align:start\n \nhello<00:00:01.000><c> otters</c>\n\n"
        "00:00:02.000 --> 00:00:02.010\nhello otters\n \n\n"
        "00:00:02.010 --> 00:00:04.000\nhello otters\nthey<00:00:03.000><c> swim</c>\n\n"
        "00:00:04.000 --> 00:00:04.010\nthey swim\n \n"
    )

    assert [f"[{line['clock']}] {line['text']}" for line in parse_captions(text)] == [
        "[0:00] hello otters",
        "[0:02] they swim",
    ]


def test_what_people_say_twice_is_told_twice() -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\nNo.\n\n00:02.000 --> 00:03.000\nNo.\n"

    assert [f"[{line['clock']}] {line['text']}" for line in parse_captions(text)] == ["[0:01] No.", "[0:02] No."]


@given(st.text(alphabet="0:.->\n <c>WEBVT a", max_size=80))
def test_no_captions_are_too_odd_to_be_read(text: str) -> None:
    assert all(line["text"] and line["second"] >= 0 for line in parse_captions(text))


@given(st.lists(st.text(alphabet="abc ", min_size=1).filter(str.strip), max_size=8))
def test_every_cue_that_differs_from_the_one_before_is_a_line(texts: list[str]) -> None:
    told_once = [" ".join(text.split()) for text in texts]

    assert [line["text"] for line in parse_captions(vtt(*texts))] == told_once


def test_the_most_telling_lines_come_first() -> None:
    lines = [
        {"clock": "0:01", "text": "they swim"},
        {"clock": "0:02", "text": "40 otters in 2 rivers"},
        {"clock": "0:03", "text": "do they dive?"},
        {"clock": "0:04", "text": "NASA and I looked"},
        {"clock": "1:05", "text": "so it is"},
        {"clock": "1:01:01", "text": "the end"},
    ]

    found = find_highlights(lines)

    assert [(one["text"], one["score"], one["startTime"]) for one in found] == [
        ("40 otters in 2 rivers", 1.0, "0:02"),
        ("do they dive?", 0.25, "0:03"),
        ("NASA and I looked", 0.25, "0:04"),
        ("they swim", 0.0, "0:01"),
        ("so it is", 0.0, "1:05"),
    ]


def test_nothing_stands_out_of_four_lines_or_of_dull_ones() -> None:
    assert find_highlights([{"clock": "0:01", "text": "40 otters"}] * 4) == []
    assert {one["score"] for one in find_highlights([{"clock": "0:01", "text": "otters"}] * 6)} == {0.0}
