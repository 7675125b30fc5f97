"""Which providers are held against recorded answers, and which cannot be because there is no recording of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.shipped import shipped_model

HERE = Path(__file__).parent
WITHOUT = {
    "bing_news": "no recording",
    "brandfetch_search": "no recording",
    "brave_context": "no recording of passages",
    "commons": "no recording",
    "core": "no recording",
    "doab": "no recording",
    "doi_registry": "recorded is which agency a DOI is of, and asked is whether it is registered",
    "ecosystems": "no recording",
    "fxtwitter": "no recording",
    "gdelt": "no recording",
    "github_raw": "what it gives is a file as it is",
    "google_news": "no recording",
    "google_patents": "no recording of a patent's page",
    "firecrawl": "no recording",
    "hackernews": "no recording of a search",
    "jina": "no recording",
    "linkup": "no recording",
    "marginalia": "no recording",
    "nominatim": "no recording",
    "oecd": "no recording",
    "openalex_discovery": "the works of openalex by other words; held in tests/domains/papers",
    "openlibrary": "no recording",
    "openverse": "no recording",
    "perplexity": "no recording",
    "photon": "no recording",
    "scholarapi": "no recording",
    "searchapi": "the one recording is of an engine that is not asked",
    "searxng": "no recording",
    "spn2": "no recording",
    "stackexchange": "no recording",
    "tdm_aps": "no recording",
    "tdm_elsevier": "no recording",
    "tdm_springer": "no recording",
    "wikipedia_articles": "no recording",
    "wikipedia_search": "no recording",
    "xbrl_filings": "no recording",
    "xquik": "no recording",
    "youcom": "no recording",
    "youcom_keyless": "no recording",
    "zenodo": "no recording",
    "zotero": "no recording",
    "zotero_local": "no recording",
}
"""Providers without a recorded answer, with the reason."""


def replayed(provider: str) -> bool:
    """Whether a test of this folder names the provider."""
    own = Path(__file__).name
    return any(f'"{provider}"' in one.read_text("utf-8") for one in HERE.glob("test_*.py") if one.name != own)


@pytest.mark.parametrize("provider", sorted(shipped_model().providers))
def test_a_provider_is_held_against_a_recording_or_has_none(provider: str) -> None:
    assert replayed(provider) != (provider in WITHOUT)


def test_who_has_no_recording_is_a_provider() -> None:
    assert set(WITHOUT) <= set(shipped_model().providers)
