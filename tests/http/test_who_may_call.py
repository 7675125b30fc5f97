"""A server to which others come does not start while nobody would have to say who they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from specloom.http.serve import read_identities
from specloom.http.settings import SettingsError, read_settings

HERE = "127.0.0.1:8080"


def read(tmp_path: Path, address: str = HERE, **environ: str) -> object:
    environ = {"SPECLOOM_STATE_DIR": str(tmp_path), **environ}
    return read_identities(environ, read_settings(environ, address))


@pytest.mark.parametrize(
    ("address", "environ"),
    [
        (HERE, {}),
        ("localhost:8080", {}),
        ("[::1]:8080", {}),
        (HERE, {"PUBLIC_URL": "http://localhost:9000"}),
        (HERE, {"PUBLIC_URL": "http://[::1]:9000/research"}),
    ],
)
def test_whoever_is_on_this_machine_may_call(tmp_path: Path, address: str, environ: dict[str, str]) -> None:
    assert read(tmp_path, address, **environ) is None


@pytest.mark.parametrize(
    ("address", "environ", "reason"),
    [
        ("0.0.0.0:8080", {}, "0.0.0.0 can be reached by others"),
        (HERE, {"PUBLIC_URL": "https://mcp.example.com"}, "at PUBLIC_URL, https://mcp.example.com"),
        (HERE, {"TRUST_PROXY": "true"}, "the proxy of TRUST_PROXY"),
        (HERE, {"SPECLOOM_API_KEYS": "/nowhere/keys.json"}, "'/nowhere/keys.json', which is not there"),
    ],
)
def test_strangers_are_not_let_in_unsaid(tmp_path: Path, address: str, environ: dict[str, str], reason: str) -> None:
    with pytest.raises(SettingsError, match="specloom keys add") as raised:
        read(tmp_path, address, **environ)

    assert reason in str(raised.value)


@pytest.mark.parametrize(
    "environ",
    [{"ALLOW_ANONYMOUS_HTTP": "true"}, {"OAUTH_ISSUER_URL": "https://login.example.com"}],
)
def test_a_proxy_may_stand_before_a_server_that_knows_its_callers(tmp_path: Path, environ: dict[str, str]) -> None:
    assert read(tmp_path, PUBLIC_URL="https://mcp.example.com", CACHE_ISOLATION="tenant", TRUST_PROXY="true", **environ)


def test_keys_that_are_there_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "api-keys.json").write_text('{"format": 1, "keys": []}')

    assert read(tmp_path, PUBLIC_URL="https://mcp.example.com", TRUST_PROXY="true") is not None
