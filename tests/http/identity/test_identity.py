"""A caller has one owner text that nobody else has, and a refusal says fixed words."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.http.identity import ANONYMOUS, NOBODY, REFUSAL_REASONS, Identity, Refusal, make_challenge
from specloom.http.identity.identity import is_name, is_scope
from specloom.plugins import is_anonymous, split_owner

NAMES = st.text(st.sampled_from("ab:%/3A ü@."), min_size=1, max_size=6) | st.text(min_size=1, max_size=255)
PAIRS = st.tuples(NAMES, NAMES).filter(lambda pair: all(map(is_name, pair)))
URL = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"


@given(PAIRS, PAIRS)
def test_two_callers_have_one_owner_only_if_they_are_one(first: tuple[str, str], second: tuple[str, str]) -> None:
    owners = Identity(*first).owner, Identity(*second).owner

    assert (owners[0] == owners[1]) == (first == second)


@given(PAIRS)
def test_an_owner_is_parted_into_who_it_was_made_of(pair: tuple[str, str]) -> None:
    owner = Identity(*pair).owner

    assert split_owner(owner) == pair
    assert not is_anonymous(owner)


@given(st.text(st.sampled_from("ab:"), min_size=3, max_size=7), st.data())
def test_a_colon_can_be_moved_over_the_border_and_the_owner_changes(text: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(1, len(text) - 1), min_size=2, max_size=2, unique=True))

    assert len({Identity(text[:cut], text[cut:]).owner for cut in cuts}) == 2


@pytest.mark.parametrize(
    "name", ["ann", "Ann Übel", "a:b", "x" * 255, "auth0|5f", "a@b.example", "李", "👩‍🔬", "~", "Anonymous"]
)
def test_names_that_callers_have(name: str) -> None:
    assert is_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "x" * 256,
        "a\0",
        "a\nb",
        "a\rb",
        "a\tb",
        "\x1b[31m",
        "a\x7f",
        "a\x85b",
        "a\u2028b",
        "\ud800",
        ANONYMOUS,
        7,
        None,
        b"ann",
    ],
)
def test_names_that_nobody_has(name: object) -> None:
    assert not is_name(name)


def test_nobody_is_who_the_stores_keep_nothing_for() -> None:
    assert is_anonymous(NOBODY.owner)
    assert NOBODY.is_anonymous
    assert not NOBODY.is_operator


def test_an_identity_does_not_change_and_does_not_show_itself() -> None:
    identity = Identity("acme", "ann", frozenset({"operator"}), "j1")

    with pytest.raises(FrozenInstanceError):
        identity.tenant = "beta"  # type: ignore[misc]
    assert identity.is_operator
    assert repr(identity) == str(identity) == "<Identity of a token>"


@pytest.mark.parametrize("reason", REFUSAL_REASONS)
def test_a_refusal_has_a_status_and_at_most_six_fixed_words(reason: str) -> None:
    refusal = Refusal(reason)  # type: ignore[arg-type]

    assert refusal.status in (400, 401, 403, 503)
    assert refusal.error in ("", "invalid_request", "invalid_token", "insufficient_scope")
    assert len(refusal.description.split()) <= 6
    assert re.fullmatch(r"[A-Za-z ]*", refusal.description)
    assert (make_challenge(refusal, URL) is None) == (refusal.status == 503)


def test_only_a_credential_that_does_not_hold_is_a_failed_attempt() -> None:
    attempts = {reason for reason in REFUSAL_REASONS if Refusal(reason).is_failed_attempt}

    assert set(REFUSAL_REASONS) - attempts == {"no_credential", "insufficient_scope", "keys_unavailable"}


def test_a_challenge_without_a_token_has_no_error() -> None:
    refusal = Refusal("no_credential", scopes=("research",))

    assert make_challenge(refusal, URL) == f'Bearer resource_metadata="{URL}", scope="research"'


def test_a_challenge_for_a_token_that_does_not_hold_names_the_error() -> None:
    assert make_challenge(Refusal("expired"), URL) == (
        f'Bearer resource_metadata="{URL}", error="invalid_token", error_description="The token has expired"'
    )


def test_a_challenge_for_more_scopes_has_all_of_them() -> None:
    refusal = Refusal("insufficient_scope", scopes=("org:read", "tool:demo_find"))

    assert make_challenge(refusal, URL) == (
        f'Bearer resource_metadata="{URL}", error="insufficient_scope", '
        'error_description="More scopes are needed", scope="org:read tool:demo_find"'
    )


def test_a_challenge_without_an_issuer_is_still_one() -> None:
    assert make_challenge(Refusal("no_credential")) == 'Bearer realm="specloom"'


def test_what_is_no_scope_is_never_in_a_header() -> None:
    refusal = Refusal("insufficient_scope", scopes=('a"b', "c d", "e\r\nX: y", "research"))

    assert str(make_challenge(refusal)).endswith('scope="research"')
    assert [text for text in ('a"', "a b", "a\\", "ä", "", "a\n", "x" * 129) if is_scope(text)] == []
