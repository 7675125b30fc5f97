"""A server starts with settings that go together, or says in one sentence what to write."""

from __future__ import annotations

import json

import pytest

from specloom.core import VariableError
from specloom.http.identity import read_identity_settings
from specloom.http.identity.settings import is_loopback

BASE = {
    "OAUTH_ISSUER_URL": "https://auth.example.com",
    "PUBLIC_URL": "https://mcp.example.com",
    "CACHE_ISOLATION": "tenant",
    "SPECLOOM_STATE_DIR": "/state",
}


def test_without_settings_there_is_no_issuer_and_nobody_is_let_in() -> None:
    settings = read_identity_settings({"SPECLOOM_STATE_DIR": "/state"})

    assert (settings.issuer, settings.anonymous, settings.metadata) == ("", False, None)
    assert settings.api_keys == "/state/api-keys.json"


def test_the_resource_is_the_public_address_of_the_endpoint() -> None:
    settings = read_identity_settings({**BASE, "PUBLIC_URL": "https://mcp.example.com/"})

    assert settings.metadata is not None
    assert settings.audience == settings.resource == "https://mcp.example.com/mcp"
    assert settings.metadata.url == "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
    assert json.loads(settings.metadata.to_json()) == {
        "resource": "https://mcp.example.com/mcp",
        "authorization_servers": ["https://auth.example.com"],
        "bearer_methods_supported": ["header"],
        "resource_name": "specloom",
    }


@pytest.mark.parametrize(
    ("environ", "audience", "resource", "url"),
    [
        (
            {"OAUTH_AUDIENCE": "https://api.example.com/v1/mcp", "PUBLIC_URL": ""},
            "https://api.example.com/v1/mcp",
            "https://api.example.com/v1/mcp",
            "https://api.example.com/.well-known/oauth-protected-resource/v1/mcp",
        ),
        (
            {"OAUTH_AUDIENCE": "https://api.example.com/", "PUBLIC_URL": ""},
            "https://api.example.com/",
            "https://api.example.com",
            "https://api.example.com/.well-known/oauth-protected-resource",
        ),
        (
            {"OAUTH_AUDIENCE": "api://specloom"},
            "api://specloom",
            "https://mcp.example.com/mcp",
            "https://mcp.example.com/.well-known/oauth-protected-resource/mcp",
        ),
        (
            {"PUBLIC_URL": "https://gate.example.com/research"},
            "https://gate.example.com/research/mcp",
            "https://gate.example.com/research/mcp",
            "https://gate.example.com/research/.well-known/oauth-protected-resource/mcp",
        ),
    ],
)
def test_audience_resource_and_metadata_come_from_settings(
    environ: dict[str, str], audience: str, resource: str, url: str
) -> None:
    settings = read_identity_settings({**BASE, **environ})

    assert settings.metadata is not None
    assert (settings.audience, settings.resource, settings.metadata.url) == (audience, resource, url)


def test_scopes_are_listed_where_they_are_needed() -> None:
    settings = read_identity_settings({**BASE, "ENFORCE_SCOPES": "true", "REQUIRED_SCOPES": "org:read, team:read"})

    assert settings.metadata is not None
    listed = json.loads(settings.metadata.to_json())["scopes_supported"]
    assert listed == ["research", "tool:*", "org:read", "team:read"]
    assert "offline_access" not in listed


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"OAUTH_ISSUER_URL": "auth.example.com"}, "OAUTH_ISSUER_URL cannot be used: The URL is refused: it has no"),
        ({"OAUTH_ISSUER_URL": "http://auth.example.com"}, "OAUTH_ISSUER_URL cannot be used: auth.example.com has to"),
        ({"OAUTH_ISSUER_URL": "http://127.evil.example.com"}, "has to be reached by https"),
        ({"OAUTH_ISSUER_URL": "http://localhost.evil.example.com"}, "has to be reached by https"),
        ({"OAUTH_ISSUER_URL": "http://10.0.0.7"}, "has to be reached by https"),
        ({"OAUTH_ISSUER_URL": "https://169.254.169.254"}, "a cloud metadata address"),
        ({"OAUTH_ISSUER_URL": "https://auth.example.com?x=1"}, "OAUTH_ISSUER_URL has a query or a fragment"),
        ({"OAUTH_ISSUER_URL": "https://auth.example.com#x"}, "OAUTH_ISSUER_URL has a query or a fragment"),
        ({"OAUTH_ISSUER_URL": "https://u:secret@auth.example.com"}, "carries a user name or a password"),
        ({"PUBLIC_URL": "http://mcp.example.com"}, "PUBLIC_URL cannot be used"),
        ({"PUBLIC_URL": ""}, "nothing says what tokens have to be made for; set PUBLIC_URL"),
        ({"PUBLIC_URL": "", "OAUTH_AUDIENCE": "specloom"}, "OAUTH_AUDIENCE is 'specloom', which is no address"),
        ({"CACHE_ISOLATION": ""}, "set CACHE_ISOLATION to shared or tenant"),
        ({"ENFORCE_SCOPES": "maybe"}, "ENFORCE_SCOPES is 'maybe'; write true or false"),
        ({"REQUIRED_SCOPES": "org:read"}, "REQUIRED_SCOPES is set but nothing asks for it; set ENFORCE_SCOPES=true"),
        ({"ENFORCE_SCOPES": "1", "REQUIRED_SCOPES": 'a"b'}, "REQUIRED_SCOPES has 'a\"b', which is no scope"),
        ({"JWKS_REFRESH_INTERVAL": "often"}, "JWKS_REFRESH_INTERVAL: 'often' is not a duration"),
        ({"JWKS_REFRESH_INTERVAL": "10s"}, "JWKS_REFRESH_INTERVAL is '10s'; write 1m to 24h"),
        ({"JWKS_REFRESH_INTERVAL": "2d"}, "JWKS_REFRESH_INTERVAL is '2d'; write 1m to 24h"),
        ({"OAUTH_TENANT_CLAIM": "sub"}, "OAUTH_TENANT_CLAIM is 'sub', which says something else"),
        ({"ALLOW_ANONYMOUS_HTTP": "perhaps"}, "ALLOW_ANONYMOUS_HTTP is 'perhaps'; write true or false"),
    ],
)
def test_what_does_not_hold_is_one_sentence(environ: dict[str, str], words: str) -> None:
    with pytest.raises(VariableError) as caught:
        read_identity_settings({**BASE, **environ})

    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://localhost:9000", "http://127.0.0.1:9000/realms/x", "http://[::1]:9000"])
def test_an_issuer_on_this_machine_may_do_without_tls(url: str) -> None:
    assert read_identity_settings({**BASE, "OAUTH_ISSUER_URL": url}).issuer == url


def test_what_is_on_this_machine() -> None:
    hosts = ["localhost", "a.localhost", "127.0.0.1", "127.8.8.8", "::1", "127.example.com", "10.0.0.1", "example.com"]

    assert [host for host in hosts if is_loopback(host)] == hosts[:5]
