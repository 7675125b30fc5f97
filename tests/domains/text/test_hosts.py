"""Reputation: matched by whole labels of the host, from a data file that keeps its own rules."""

import re
from importlib.resources import files

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.text.hosts import TIERS, find_reputation, load_reputations, source_reputation
from specloom.plugins.registry import HOOKS

TEXT = files("specloom.domains.text").joinpath("reputation.yaml").read_text(encoding="utf-8")
DATA = yaml.load(TEXT, Loader=yaml.CSafeLoader)
ENTRY_KEYS = ("tier", "basis", "note")
HOST = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")


@pytest.mark.parametrize(
    "url",
    [
        "https://nature.com",
        "http://www.nature.com/articles/1?x=https://example.com#y",
        "https://NATURE.COM.:443/",
        "https://user@nature.com/",
        " https://a.b.nature.com ",
        "https://nature。com/",
    ],
)
def test_a_host_and_all_below_it_are_known(url):
    found = find_reputation(url)

    assert found is not None
    assert (found.tier, found.basis) == ("high", "scholarly publisher")


@pytest.mark.parametrize(
    "url",
    [
        "https://notnature.com/",
        "https://nature.com.example/",
        "https://nature.com@host.example/",
        "https://host.example\\@nature.com/",
        "https://host.example/nature.com",
        "https://com/",
        "https://gov.example/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "http://[::1",
        "ftp://nature.com/",
        "nature.com",
        "https://" + "a." * 130 + "nature.com/",
        "https://" + "ä" * 70 + ".nature.com/",
        "",
    ],
)
def test_a_look_alike_or_a_broken_address_is_unknown(url):
    assert find_reputation(url) is None


def test_the_longest_entry_wins():
    agency, above = find_reputation("https://www.nasa.gov/x"), find_reputation("https://agency.gov/")

    assert agency is not None
    assert above is not None
    assert (agency.basis, above.basis) == ("research institute", "government")


def test_rows_of_known_hosts_get_tier_and_basis_and_a_note_where_there_is_one():
    rows = [{"url": "https://theonion.com/a"}, {"url": "https://en.wikipedia.org/wiki/A"}]

    onion, wiki = source_reputation(rows, {})

    assert onion["source_reputation"] == {"tier": "low", "basis": "satire"}
    assert wiki["source_reputation"] == {
        "tier": "mixed",
        "basis": "open reference work",
        "note": "follow its citations to the source",
    }


@pytest.mark.parametrize("row", [{"url": "https://unknown.example/"}, {"url": None}, {"url": 5}, {}])
def test_a_row_of_an_unknown_host_stays_as_it_is(row):
    assert source_reputation([row], {}) == [row]


def test_what_the_hook_adds_fits_its_schema():
    schema = HOOKS["source_reputation"].adds["source_reputation"]

    for host in load_reputations():
        (row,) = source_reputation([{"url": f"https://{host}/"}], {})
        jsonschema.Draft7Validator(schema).validate(row["source_reputation"])


@given(st.one_of(st.text(), st.text().map(lambda text: f"https://{text}")))
def test_any_text_is_an_address_that_is_known_or_not(url):
    found = find_reputation(url)

    assert found is None or found.tier in TIERS


def test_the_data_file_is_sorted_and_names_no_host_twice():
    # Read from the text, since a parser keeps the last of two equal keys.
    hosts = re.findall(r"^  ([^\s:]+): \{", TEXT.partition("\nhosts:\n")[2], re.MULTILINE)

    assert hosts == sorted(set(hosts))
    assert hosts == list(DATA["hosts"])
    assert len(hosts) >= 150


def test_every_key_is_a_host():
    assert [host for host in DATA["hosts"] if not HOST.fullmatch(host) or host.startswith("www.")] == []


def test_every_entry_has_a_tier_and_a_documented_basis():
    wrong = {host: entry for host, entry in DATA["hosts"].items() if not _is_well_formed(entry)}

    assert wrong == {}


def _is_well_formed(entry):
    texts = all(isinstance(value, str) and value for value in entry.values())
    return texts and set(entry) <= set(ENTRY_KEYS) and entry["tier"] in TIERS and entry["basis"] in DATA["bases"]


def test_no_entry_repeats_the_one_above_it():
    assert [host for host, entry in DATA["hosts"].items() if entry == _entry_above(host)] == []


def _entry_above(host):
    above = host.partition(".")[2]
    while above and above not in DATA["hosts"]:
        above = above.partition(".")[2]
    return DATA["hosts"].get(above)


def test_every_basis_and_every_tier_is_used():
    used = DATA["hosts"].values()

    assert {entry["basis"] for entry in used} == set(DATA["bases"])
    assert {entry["tier"] for entry in used} == set(TIERS)


def test_every_tier_is_explained_in_the_header():
    header = TEXT.partition("\nversion:")[0]

    assert all(re.search(rf"^# .*\b{tier}\b", header, re.MULTILINE) for tier in TIERS)
