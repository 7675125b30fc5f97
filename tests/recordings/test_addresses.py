"""All addresses that recorded answers hold are read alike by the short way for plain ones and by the long one."""

from __future__ import annotations

import re

import pytest

from specloom.core.page_addresses import canonical_url
from specloom.language.converters import absolute_http
from tests.support.recordings import FIXTURES

ADDRESS = re.compile(r'https?://[^\s"<>\\]+')


def test_every_recorded_address_has_one_form_for_comparison() -> None:
    if not FIXTURES.is_dir():
        pytest.skip(f"there are no recordings in {FIXTURES}; SPECLOOM_FIXTURES names their folder")
    urls = {
        url
        for file in FIXTURES.rglob("*")
        if file.is_file()
        for url in ADDRESS.findall(file.read_text(encoding="utf-8", errors="replace").replace("\\/", "/"))
    }

    others = [
        url
        for url in urls
        if canonical_url(url) != canonical_url(f" {url}") or absolute_http(url) != absolute_http(f" {url}")
    ]

    assert urls
    assert not others
