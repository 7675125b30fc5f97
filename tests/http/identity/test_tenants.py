"""A tenant has its own keys over those of the server, and what is misspelt stops the start without showing a value."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from specloom.core import VariableError
from specloom.core.diagnostics import Place
from specloom.http.identity import Tenants, load_tenants
from specloom.model import Setting
from specloom.server import list_settings
from tests.support.shipped import shipped_model

PLANTED = "Pl4ntedV4lue"
SETTINGS: Mapping[str, Setting] = {
    name: Setting(name, "", Place("demo.yaml"), kind, secret=name.endswith("KEY"))
    for name, kind in (
        ("DEMO_API_KEY", "text"),
        ("OTHER_API_KEY", "text"),
        ("DEMO_URL", "url"),
        ("DEMO_DEEP", "boolean"),
    )
}
SERVER = {"DEMO_API_KEY": "of the server", "PATH": "/bin"}


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "tenants.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(0o600)
    return path


def mount(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / "tenants" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / "tenants"


def refuse(path: Path) -> str:
    with pytest.raises(VariableError) as caught:
        load_tenants(path, SETTINGS)
    assert PLANTED not in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_tenant_has_its_own_values_over_those_of_the_server(tmp_path: Path) -> None:
    tenants = load_tenants(write(tmp_path, "acme: {DEMO_API_KEY: mine}\nbeta: {DEMO_DEEP: true}\n"), SETTINGS)

    assert tenants.environ_of("acme", SERVER) == {"DEMO_API_KEY": "mine", "PATH": "/bin"}
    assert tenants.environ_of("beta", SERVER) == {**SERVER, "DEMO_DEEP": "true"}
    assert tenants.environ_of("gamma", SERVER) is SERVER


def test_an_empty_value_takes_away_what_the_server_has(tmp_path: Path) -> None:
    tenants = load_tenants(write(tmp_path, 'acme: {DEMO_API_KEY: ""}\n'), SETTINGS)

    assert tenants.environ_of("acme", SERVER)["DEMO_API_KEY"] == ""


@pytest.mark.parametrize("value", ["0123", "1e10", "0x1F", "true", "2024-01-01", "null", "~", "a: b", ".inf"])
def test_a_key_is_the_text_that_stands_there_whatever_it_looks_like(tmp_path: Path, value: str) -> None:
    written = f'"{value}"' if ": " in value else value

    tenants = load_tenants(write(tmp_path, f"acme:\n  DEMO_API_KEY: {written}\n"), SETTINGS)

    assert tenants.own["acme"]["DEMO_API_KEY"] == value


def test_secrets_that_are_mounted_as_files_are_read_like_the_file(tmp_path: Path) -> None:
    folder = mount(
        tmp_path,
        {
            "acme/DEMO_API_KEY": "mine\n",
            "acme/..data/DEMO_API_KEY": "not this one",
            "a%2Fb%3Ac/OTHER_API_KEY": "theirs\r\n",
            "..2024_01_01/acme": "nor this",
        },
    )

    tenants = load_tenants(folder, SETTINGS)

    assert tenants.own == {"acme": {"DEMO_API_KEY": "mine"}, "a/b:c": {"OTHER_API_KEY": "theirs"}}


def test_a_secret_may_be_a_link_into_the_mount(tmp_path: Path) -> None:
    folder = mount(tmp_path, {"acme/..data/DEMO_API_KEY": "mine"})
    (folder / "acme" / "DEMO_API_KEY").symlink_to(Path("..data") / "DEMO_API_KEY")

    assert load_tenants(folder, SETTINGS).own == {"acme": {"DEMO_API_KEY": "mine"}}


def test_without_a_file_every_tenant_has_what_the_server_has() -> None:
    assert load_tenants("", SETTINGS).environ_of("acme", SERVER) is SERVER


def test_an_empty_file_names_no_tenant(tmp_path: Path) -> None:
    assert load_tenants(write(tmp_path, "# none yet\n"), SETTINGS).own == {}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"acme:\n  DEMO_APIKEY: {PLANTED}\n", ":2: there is no variable DEMO_APIKEY; did you mean DEMO_API_KEY?"),
        (f"acme:\n  demo_api_key: {PLANTED}\n", ":2: there is no such variable; did you mean DEMO_API_KEY?"),
        (f"acme:\n  {PLANTED}: x\n", ":2: there is no such variable"),
        (f"acme:\n  DEMO_URL: {PLANTED}\n", ":2: DEMO_URL cannot be read as url"),
        (f"acme:\n  DEMO_DEEP: {PLANTED}\n", ":2: DEMO_DEEP cannot be read as boolean"),
        (f"acme:\n  SPECLOOM_TEXT: {PLANTED}\n", ":2: SPECLOOM_TEXT cannot be read as choice"),
        (f"acme:\n  SPECLOOM_CACHE_KEY: {PLANTED}\n", ":2: SPECLOOM_CACHE_KEY is for the whole server"),
        (f"acme:\n  DEMO_API_KEY: [{PLANTED}]\n", ":2: a variable has one value"),
        (f"acme: {PLANTED}\n", ":1: write it as {tenant: {VARIABLE: value}}"),
        (f"- {PLANTED}\n", ":1: write it as {tenant: {VARIABLE: value}}"),
        (f"acme: {{DEMO_API_KEY: {PLANTED}}}\nbeta: {{}}\nacme: {{}}\n", ":3: the name in this line stands twice"),
        (f"acme:\n  DEMO_API_KEY: a\n  DEMO_API_KEY: {PLANTED}\n", ":3: the name in this line stands twice"),
        (f"acme:\n  ? [{PLANTED}]\n  : x\n", ":2: the name in this line is no text"),
        (f"anonymous: {{DEMO_API_KEY: {PLANTED}}}\n", ":1: a tenant has 1 to 255 characters"),
        (f'"a\\nb": {{DEMO_API_KEY: {PLANTED}}}\n', ":1: a tenant has 1 to 255 characters"),
        (f"acme: {{DEMO_API_KEY: {PLANTED}\n", "is not valid YAML"),
        (f"acme: *{PLANTED}\n", "is not valid YAML"),
        (f"a: {{DEMO_API_KEY: {PLANTED}}}\n---\nb: {{}}\n", "is not valid YAML"),
        (b"acme: {DEMO_API_KEY: \xff}\n", "is not UTF-8"),
        (b"acme: {DEMO_API_KEY: a\x00b}\n", "is not valid YAML"),
    ],
)
def test_what_is_wrong_in_the_file_is_one_sentence_with_its_line(
    tmp_path: Path, text: str | bytes, sentence: str
) -> None:
    said = refuse(write(tmp_path, text))

    assert said.startswith("SPECLOOM_TENANTS: ")
    assert sentence in said


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"acme/DEMO_APIKEY": PLANTED}, "there is no variable DEMO_APIKEY; did you mean DEMO_API_KEY?"),
        ({"acme/DEMO_URL": PLANTED}, "DEMO_URL cannot be read as url"),
        ({"acme/DEMO_API_KEY/x": PLANTED}, "cannot be read"),
        ({"DEMO_API_KEY": PLANTED}, "is no folder of a tenant"),
        ({"anonymous/DEMO_API_KEY": PLANTED}, "a tenant has 1 to 255 characters"),
        ({"%00/DEMO_API_KEY": PLANTED}, "a tenant has 1 to 255 characters"),
        ({"acme/DEMO_API_KEY": PLANTED * 10_000}, "has more than the 65536 bytes"),
    ],
)
def test_what_is_wrong_in_the_folder_is_one_sentence_with_its_file(
    tmp_path: Path, files: Mapping[str, str], sentence: str
) -> None:
    assert sentence in refuse(mount(tmp_path, files))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "cannot be read: No such file" in refuse(tmp_path / "none.yaml")


@pytest.mark.skipif(os.name == "nt", reason="there are no such modes")
def test_a_file_that_everybody_may_write_is_not_believed(tmp_path: Path) -> None:
    path = write(tmp_path, f"acme: {{DEMO_API_KEY: {PLANTED}}}\n")
    path.chmod(0o666)

    assert "everybody may write" in refuse(path)


def test_values_are_not_shown(tmp_path: Path) -> None:
    tenants = load_tenants(write(tmp_path, f"acme: {{DEMO_API_KEY: {PLANTED}}}\n"), SETTINGS)

    assert (repr(tenants), str(Tenants())) == ("<Tenants: 1>", "<Tenants: 0>")


def test_every_key_of_a_shipped_provider_may_be_a_tenants(tmp_path: Path) -> None:
    settings = list_settings(shipped_model().heads)
    keys = [name for name, one in settings.items() if one.secret and one.kind == "text"]
    text = "acme:\n" + "".join(f"  {name}: {name.lower()}\n" for name in keys) + "  SEARCH_ROUTING: demo\n"

    own = load_tenants(write(tmp_path, text), settings).own["acme"]

    assert len(keys) > 10
    assert own == {**{name: name.lower() for name in keys}, "SEARCH_ROUTING": "demo"}
