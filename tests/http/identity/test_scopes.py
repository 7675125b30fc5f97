"""Lists show what may be called, and who may not is told everything that would do."""

from __future__ import annotations

import pytest

from specloom.http.identity import NOBODY, Identity, Refusal
from specloom.http.identity.scopes import ScopePolicy

TOOLS = ("demo_find", "demo_read", "other")
ENFORCED = ScopePolicy(enforced=True, required=("org:read",))


def caller(*scopes: str, scoped: bool = True) -> Identity:
    return Identity("acme", "ann", frozenset(scopes), scoped=scoped)


def refuse(policy: ScopePolicy, identity: Identity, tool: str = "demo_find") -> Refusal:
    with pytest.raises(Refusal) as caught:
        policy.check_tool(identity, tool)
    return caught.value


@pytest.mark.parametrize(
    ("scopes", "shown"),
    [
        (("research", "org:read"), TOOLS),
        (("tool:*", "org:read"), TOOLS),
        (("tool:other", "tool:demo_find", "org:read"), ("demo_find", "other")),
        (("tool:other",), ()),
        (("operator", "org:read"), ()),
        ((), ()),
    ],
)
def test_a_list_shows_what_the_scopes_allow(scopes: tuple[str, ...], shown: tuple[str, ...]) -> None:
    assert ENFORCED.visible(caller(*scopes), TOOLS) == shown
    assert ENFORCED.cache_scope == "private"


def test_unless_scopes_are_enforced_everybody_may_use_every_tool() -> None:
    policy = ScopePolicy()

    assert policy.visible(caller(), TOOLS) == policy.visible(NOBODY, TOOLS) == TOOLS
    assert (policy.cache_scope, policy.initial, policy.supported) == ("public", (), ())


def test_who_says_nothing_of_scopes_is_let_in_only_where_that_is_optional() -> None:
    policy = ScopePolicy(enforced=True, required=("org:read",), optional=True)

    assert policy.allows(caller(scoped=False), "demo_find")
    assert not policy.allows(caller(), "demo_find")
    assert not policy.allows(NOBODY, "demo_find")
    assert not ENFORCED.allows(caller(scoped=False), "demo_find")


def test_the_challenge_asks_in_the_words_that_the_token_speaks() -> None:
    assert refuse(ENFORCED, caller("org:read")).scopes == ("org:read", "research")
    assert refuse(ENFORCED, caller("tool:other")).scopes == ("org:read", "tool:demo_find")
    assert refuse(ENFORCED, caller("research")).scopes == ("org:read", "research")
    assert refuse(ENFORCED, caller("tool:other"), 'x" y').scopes == ("org:read", "research")


def test_nobody_is_asked_to_sign_in() -> None:
    refusal = refuse(ENFORCED, NOBODY)

    assert (refusal.status, refusal.error, refusal.scopes) == (401, "", ("org:read", "research"))


def test_what_concerns_all_tenants_is_for_operators_whether_or_not_scopes_are_enforced() -> None:
    ScopePolicy().check_operator(caller("operator"))
    for policy, needed in ((ScopePolicy(), ("operator",)), (ENFORCED, ("org:read", "operator"))):
        with pytest.raises(Refusal) as caught:
            policy.check_operator(caller("research", "tool:operator"))
        assert (caught.value.status, caught.value.scopes) == (403, needed)


def test_metadata_lists_what_may_be_asked_for() -> None:
    assert ENFORCED.supported == ("research", "tool:*", "org:read")
    assert ENFORCED.initial == ("org:read", "research")
