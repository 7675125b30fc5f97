"""The official SDK's client finds in our challenges and metadata what it needs to ask for a token."""

from __future__ import annotations

import pytest
from httpx import Response
from mcp.client.auth import utils
from mcp.shared.auth import ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed

from specloom.http.identity import IdentitySettings, Refusal, make_challenge
from specloom.http.identity.issuer_keys import _metadata_urls
from specloom.http.identity.metadata import locate_metadata
from specloom.http.identity.scopes import ScopePolicy

SETTINGS = IdentitySettings(
    issuer="https://auth.example.com/realms/acme",
    resource="https://mcp.example.com/mcp",
    public_url="https://mcp.example.com",
    scopes=ScopePolicy(enforced=True, required=("org:read",)),
)


@pytest.mark.parametrize(
    ("refusal", "error", "scope"),
    [
        (Refusal("no_credential", scopes=("org:read", "research")), None, "org:read research"),
        (Refusal("expired"), "invalid_token", None),
        (Refusal("insufficient_scope", scopes=("org:read", "tool:demo")), "insufficient_scope", "org:read tool:demo"),
    ],
)
def test_a_challenge_is_read_field_by_field(refusal: Refusal, error: str | None, scope: str | None) -> None:
    assert SETTINGS.metadata is not None
    challenge = make_challenge(refusal, SETTINGS.metadata.url)
    assert challenge is not None
    response = Response(refusal.status, headers={"WWW-Authenticate": challenge})
    url = utils.extract_field_from_www_auth(response, "resource_metadata")  # type: ignore[arg-type]

    assert url == SETTINGS.metadata.url
    assert utils.extract_field_from_www_auth(response, "error") == error  # type: ignore[arg-type]
    assert utils.extract_field_from_www_auth(response, "scope") == scope  # type: ignore[arg-type]


def test_the_metadata_is_what_the_client_takes_for_this_server() -> None:
    assert SETTINGS.metadata is not None

    said = ProtectedResourceMetadata.model_validate_json(SETTINGS.metadata.to_json())

    assert check_resource_allowed("https://mcp.example.com/mcp", str(said.resource))
    assert [str(one) for one in said.authorization_servers] == [SETTINGS.issuer]
    assert said.scopes_supported == ["research", "tool:*", "org:read"]


@pytest.mark.parametrize(
    "url", ["https://mcp.example.com/mcp", "https://mcp.example.com/v1/mcp", "https://mcp.example.com"]
)
def test_a_client_without_a_challenge_looks_where_the_metadata_is(url: str) -> None:
    assert utils.build_protected_resource_metadata_discovery_urls(None, url)[0] == locate_metadata(url)


@pytest.mark.parametrize("issuer", ["https://auth.example.com", "https://auth.example.com/realms/acme"])
def test_we_look_for_an_issuers_metadata_where_clients_do_and_in_their_order(issuer: str) -> None:
    theirs = utils.build_oauth_authorization_server_metadata_discovery_urls(issuer, "https://mcp.example.com")

    assert list(_metadata_urls(issuer)) == theirs[: len(list(_metadata_urls(issuer)))]
