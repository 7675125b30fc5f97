"""The settings in `config.toml`: which go before which, what is told of wrong ones, and when they are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from specloom.domains.papers import config as configfile
from specloom.domains.papers.config import RETENTION, log_path, log_retention, store_root
from tests.support.paper_store import World, crossref, pdf, unpaywall

DOI = "10.1234/otters"


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the settings of this user are; nothing is there yet."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(configfile, "_READ", {})
    path = tmp_path / "config" / "doiget" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def write(path: Path, text: str) -> None:
    """Write the file, a second later each time, because a change is seen by time and size."""
    before = path.stat().st_mtime if path.exists() else 1_000_000_000.0
    path.write_text(text, "utf-8")
    os.utime(path, (before + 1, before + 1))


def test_places_come_from_variables_before_the_file_and_the_file_before_defaults(file: Path) -> None:
    assert store_root({}) == Path.home() / "papers"
    assert log_path({}) == file.parent / "access.jsonl"
    assert log_retention({}) == RETENTION

    write(file, '[store]\nroot = "/a/papers"\n[log]\npath = "/a/log.jsonl"\nretention_days = 7\n')
    assert (store_root({}), log_path({}), log_retention({})) == (Path("/a/papers"), Path("/a/log.jsonl"), 7)

    said = {"DOIGET_STORE_ROOT": "/b", "DOIGET_LOG_PATH": "/b/log", "DOIGET_LOG_RETENTION_DAYS": 0}
    assert (store_root(said), log_path(said), log_retention(said)) == (Path("/b"), Path("/b/log"), 0)


@pytest.mark.parametrize("text", ["", "  ", "${HOME}/papers"])
def test_what_is_blank_or_still_a_template_counts_as_not_set(file: Path, text: str) -> None:
    write(file, '[store]\nroot = "/a/papers"\n')
    assert store_root({"DOIGET_STORE_ROOT": text}) == Path("/a/papers")

    write(file, f'[store]\nroot = "{text}"\n')
    assert store_root({}) == Path.home() / "papers"


def test_hosts_that_the_file_lets_in_are_asked(world: World, file: Path) -> None:
    world.pages |= {
        **crossref(DOI),
        **unpaywall(DOI, "https://repo.example.org/x.pdf"),
        "repo.example.org/x.pdf": pdf(),
    }
    write(file, '[[network.additional_hosts]]\nhost = "*.Example.org"\nnote = "ours"\n')

    assert world.call("fetch_paper", ref=DOI)["pdf"] == {"status": "fetched"}


def test_a_variable_goes_before_the_file_also_where_it_says_no(world: World, file: Path) -> None:
    world.pages |= {**crossref(DOI), **unpaywall(DOI, "https://zenodo.org/x.pdf"), "zenodo.org/x.pdf": pdf()}
    world.environ = {"DOIGET_TRUST_OA_REGISTRIES": "false"}
    write(file, "[network]\ntrust_oa_registries = true\n")
    assert world.call("fetch_paper", ref=DOI)["pdf"]["status"] == "blocked"

    world.environ = {}
    assert world.call("fetch_paper", ref=DOI, force=True)["pdf"] == {"status": "fetched"}


def test_a_change_of_the_file_lets_a_refused_paper_be_asked_again(world: World, file: Path) -> None:
    world.pages |= {**crossref(DOI), **unpaywall(DOI, "https://zenodo.org/x.pdf"), "zenodo.org/x.pdf": pdf()}
    assert world.call("fetch_paper", ref=DOI)["pdf"]["status"] == "blocked"
    assert world.call("fetch_paper", ref=DOI)["error"]["replayed"] is True

    write(file, "[network]\ntrust_oa_registries = true\n")

    assert world.call("fetch_paper", ref=DOI)["pdf"] == {"status": "fetched"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[store", "it cannot be read"),
        ("[store]\nroot = 7\n", "[store] root is no text"),
        ("[log]\nretention_days = true\n", "[log] retention_days is no whole number"),
        ("[log]\nretention_days = -1\n", "[log] retention_days is below 0"),
        ("[network]\ntrust_oa_registries = 1\n", "[network] trust_oa_registries is no truth value"),
        ('[[network.additional_hosts]]\nhost = "a.*.org"\n', "additional_hosts is no list of tables"),
        ('[[network.additional_hosts]]\nhost = "a.org"\ncolour = "red"\n', "additional_hosts is no list of tables"),
        ('[network]\nadditional_hosts = ["a.org"]\n', "additional_hosts is no list of tables"),
    ],
)
def test_a_malformed_file_counts_as_empty_and_is_told_once(
    file: Path, caplog: pytest.LogCaptureFixture, text: str, sentence: str
) -> None:
    write(file, f'{text}\n[cache]\nroot = "/a"\n' if text.startswith("[store]") else text)

    assert store_root({}) == Path.home() / "papers"
    assert configfile.current().values == {}

    [record] = caplog.records
    assert sentence in record.getMessage()
    assert record.getMessage().startswith(f"{file}: the file counts as empty because ")


def test_what_is_not_known_or_not_read_is_told_and_the_rest_counts(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write(
        file,
        'colour = "red"\n[store]\nroot = "/a"\nsize = 1\n[network]\nunpaywall_email = "a@example.org"\n'
        'connect_timeout_sec = 5\n[output]\nmode = "json"\n[tdm.aps]\napi_key = "made-up"\n',
    )

    assert store_root({}) == Path("/a")

    told = [record.getMessage().removeprefix(f"{file}: ") for record in caplog.records]
    assert told == [
        "colour is not known",
        *(
            f"{key} is not read here; what else may be set is a variable"
            for key in (
                *("[store] size", "[network] unpaywall_email", "[network] connect_timeout_sec", "[output] mode"),
                "[tdm] aps",
            )
        ),
    ]
