"""An operator is told at the start which tools are left out for want of an owner, and where strangers may write."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from specloom.http.identity import read_identity_settings
from specloom.http.sharing import describe_sharing
from specloom.server import default_selection, select
from tests.support.shipped import shipped_model

NOBODY = {"ALLOW_ANONYMOUS_HTTP": "true"}
SHARED = {"SPECLOOM_PAPERS_SHARED": "true"}


def told(toolsets: str, environ: Mapping[str, str] | None = None, *, somebody: bool = True) -> list[str]:
    given = {"SPECLOOM_TOOLSETS": toolsets, **(environ or {})}
    identities = read_identity_settings(given) if somebody else None
    return list(describe_sharing(shipped_model(), default_selection(given, shared=somebody), given, identities))


def test_the_toolsets_that_tenants_go_without_are_named_with_the_variable() -> None:
    (sentence,) = told("all")

    assert re.fullmatch(
        r"tools of the toolsets library \(\d+ of \d+\) and papers \((\d+) of \1\) are left out, because what they "
        r"reach has no owner; set SPECLOOM_PAPERS_SHARED=true to let all tenants share it",
        sentence,
    )
    assert told("papers")[0].startswith("tools of the toolset papers (")


def test_as_many_are_told_as_are_left_out() -> None:
    model, environ = shipped_model(), {"SPECLOOM_TOOLSETS": "library"}
    alone = select(model, default_selection(environ), environ)
    many = select(model, default_selection(environ, shared=True), environ)

    assert f"library ({len(alone) - len(many)} of " in told("library")[0]


@pytest.mark.parametrize("toolsets", ["all", "papers"])
def test_nothing_is_told_where_nothing_is_left_out(toolsets: str) -> None:
    assert told(toolsets, SHARED) == []
    assert told(toolsets, somebody=False) == []
    assert told("research") == []


def test_strangers_who_may_write_to_what_all_share_are_told() -> None:
    (sentence,) = told("all", {**NOBODY, **SHARED, "ZOTERO_WRITE": "true"})

    assert sentence.startswith(
        "callers who do not say who they are may change what all tenants share (zotero_add, zotero_label, "
    )
    assert sentence.endswith(
        "because of ALLOW_ANONYMOUS_HTTP with SPECLOOM_PAPERS_SHARED and ZOTERO_WRITE; "
        "set one of them to false, unless a proxy in front checks who calls"
    )


def test_the_paper_store_is_told_as_well_without_the_switch_of_zotero() -> None:
    (sentence,) = told("papers", {**NOBODY, **SHARED})

    assert "because of ALLOW_ANONYMOUS_HTTP with SPECLOOM_PAPERS_SHARED; set" in sentence
    assert "zotero" not in sentence


@pytest.mark.parametrize(
    "environ",
    [
        {**SHARED, "ZOTERO_WRITE": "true"},
        {**NOBODY, **SHARED, "ZOTERO_WRITE": "true", "ENFORCE_SCOPES": "true"},
        {**NOBODY, **SHARED, "ZOTERO_WRITE": "true", "SPECLOOM_TOOLSETS": "research"},
    ],
    ids=["everybody says who they are", "strangers are asked to sign in", "the tools are not served"],
)
def test_strangers_who_can_change_nothing_are_not_told(environ: dict[str, str]) -> None:
    assert told("all", environ) == []
