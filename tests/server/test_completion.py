"""What completes an argument of a prompt or of an address."""

from __future__ import annotations

from specloom.server.backend import complete


def test_words_that_begin_with_what_is_typed_come_first() -> None:
    assert complete(["medical", "biomed", "news", "MEDIA"], " Med") == ["medical", "MEDIA", "biomed"]
    assert complete(["b", "a", "b"], "") == ["b", "a"]
