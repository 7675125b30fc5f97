"""Lens files: well-formed, complete, and their examples show what their domains make."""

import re
from pathlib import Path

import pytest
import yaml

LENSES = Path(__file__).parents[2] / "lenses"
_NAMES = """academic academic-extended awesome-lists biomed clinical curriculum devops docs finance government
    investigative_records legal medical news osint programming programming-goggle science security tech"""
NAMES = _NAMES.split()
KEYS = ["spec", "name", "title", "description", "notes", "domains", "goggle", "example"]
SITE = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9._~-]+)*")
MOST_SITES = 10


def load_lens(name):
    return yaml.load((LENSES / f"{name}.yaml").read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def make_queries(query, domains):
    """The rule on its own: full groups of ten in order, then the rest; one site has no brackets."""
    if not domains:
        return [query]
    made = []
    left = [f"site:{domain}" for domain in domains]
    while left:
        group, left = left[:MOST_SITES], left[MOST_SITES:]
        made.append(f"{query} {group[0]}" if len(group) == 1 else f"{query} ({' OR '.join(group)})")
    return made


def test_the_lenses_are_exactly_these():
    assert sorted(path.name for path in LENSES.iterdir()) == sorted(f"{name}.yaml" for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_lens_has_its_keys_in_order(name):
    lens = load_lens(name)

    assert list(lens) == [key for key in KEYS if key in lens]
    assert {"spec", "name", "title", "description", "example"} <= set(lens)
    assert "domains" in lens or "goggle" in lens
    assert lens["spec"] == "lens/1"
    assert lens["name"] == name
    assert 0 < len(lens["description"]) <= 120
    assert list(lens["example"]) == ["query", "makes"]


@pytest.mark.parametrize("name", NAMES)
def test_an_example_shows_what_the_domains_make(name):
    lens = load_lens(name)

    assert lens["example"]["makes"] == make_queries(lens["example"]["query"], lens.get("domains", []))


@pytest.mark.parametrize("name", NAMES)
def test_sites_are_hosts_or_hosts_with_a_path_and_appear_once(name):
    domains = load_lens(name).get("domains", [])

    assert all(SITE.fullmatch(domain) for domain in domains)
    assert len(domains) == len(set(domains))


@pytest.mark.parametrize("name", NAMES)
def test_a_goggle_is_a_secure_address(name):
    assert load_lens(name).get("goggle", "https://").startswith("https://")


@pytest.mark.parametrize("name", NAMES)
def test_a_lens_names_the_schema_that_editors_check_it_with(name):
    first = (LENSES / f"{name}.yaml").read_text(encoding="utf-8").splitlines()[0]

    assert first == "# yaml-language-server: $schema=../schema/lens.json"
