"""Identifiers of papers, the names of their files, and their digests."""

from __future__ import annotations

import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.papers.answers import parse_ref
from specloom.domains.papers.errors import PaperFault
from specloom.domains.papers.store import check_key
from specloom.domains.text.paper_refs import PaperId

KEYS = [
    ("doi", "10.1234/example", "doi_10.1234_example"),
    ("doi", "10.1103/PhysRevLett.130.200601", "doi_10.1103_PhysRevLett.130.200601"),
    ("doi", "10.1016/S0370-1573(98)00122-3", "doi_10.1016_S0370-1573_98_00122-3"),
    ("doi", "10.1234/foo bar", "doi_10.1234_foo_bar"),
    ("doi", "10.1234/foo  bar", "doi_10.1234_foo_bar"),
    ("doi", "10.1234/_leading", "doi_10.1234_leading"),
    ("doi", "10.1234/trailing_", "doi_10.1234_trailing"),
    ("arxiv", "2401.12345", "arxiv_2401.12345"),
    ("arxiv", "2401.12345v2", "arxiv_2401.12345v2"),
    ("arxiv", "cond-mat/9501001", "arxiv_cond-mat_9501001"),
    ("doi", "10.2001/物理学", "doi_10.2001"),
    ("doi", "10.2002/μετρον", "doi_10.2002"),
    ("doi", "10.2003/プレプリント", "doi_10.2003"),
    ("doi", "10.1023/A:1008306431147", "doi_10.1023_A_1008306431147"),
    ("doi", "10.1051/jphys:01979004003025700", "doi_10.1051_jphys_01979004003025700"),
    ("doi", "10.1000/a(b)c/d--e", "doi_10.1000_a_b_c_d--e"),
    ("doi", "10.5281/zenodo.3753745", "doi_10.5281_zenodo.3753745"),
    ("arxiv", "astro-ph.CO/0703123v2", "arxiv_astro-ph.CO_0703123v2"),
    ("doi", "10.1234/" + "a" * 180, "doi_10.1234_" + "a" * 180),
    ("doi", "10.1234/" + "a" * 181, "doi_10.1234_" + "a" * 180 + "_0fb3255a"),
    ("doi", "10.1234/" + "a" * 220, "doi_10.1234_" + "a" * 180 + "_01fe6dd1"),
]

DIGESTS = [
    ("doi", "10.1234/foo", "crossref", "", "17a7530b46c24b037ab779e5ad8f24cb9f27a99e44506f949fc0adf2aef8f1ae"),
    ("doi", "10.1234/foo", "unpaywall", "", "25b15a76de87d5d455792af706e5dadf5a2eb5419e58bb11d3031b1ca7a025f7"),
    ("doi", "10.1234/foo", "oa-publisher", "", "95f4cc3392c7f320c72ffdbe98e14d2a296afe33f89b98119a9e2ac27fb60524"),
    (
        "doi",
        "10.1234/foo",
        "crossref",
        "2026-05-12",
        "abb50099ed6abad9e9de0f8f9955635959ee20e6f990e7db853c9501d15f2596",
    ),
    (
        *("doi", "10.1103/PhysRevLett.130.200601", "oa-publisher", ""),
        "3d2a3ddf382ed685e1ab0e39cfbe0fec39c3d332f07641d9274a7f94bb012e4e",
    ),
    ("arxiv", "2401.12345", "arxiv", "", "37eea0478a959cd1713f9ed1bcf5a36851202c1744239b81b90db8e43cda53bf"),
    ("arxiv", "2401.12345", "arxiv", "v2", "291df91b7a0978adaa3bc4311f8b8f6bf843ecc0f7d00934daa9c5cb871cd981"),
    ("arxiv", "2401.12345", "arxiv", "v10", "04412b018563ae1c38c2f81a1e50d0354e7e524780ab62a412dc4ef94bf6a58a"),
    ("arxiv", "cond-mat/9501001", "arxiv", "", "1b8ba4e95637e5342a49291d79d2344a28e439e4bc8bc76b60a2ec5cb055d33d"),
]


@pytest.mark.parametrize(("kind", "value", "key"), KEYS)
def test_a_key_is_that_of_the_published_vectors(kind: str, value: str, key: str) -> None:
    assert PaperId(kind, value).key == key


@pytest.mark.parametrize(("kind", "value", "profile", "version", "digest"), DIGESTS)
def test_a_digest_is_that_of_the_published_vectors(
    kind: str, value: str, profile: str, version: str, digest: str
) -> None:
    assert PaperId(kind, value).digest(profile, version) == digest


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("10.1234/abc", PaperId("doi", "10.1234/abc")),
        ("DOI:10.1234/ABC", PaperId("doi", "10.1234/ABC")),
        ("10.1023/A:1008306431147", PaperId("doi", "10.1023/A:1008306431147")),
        ("10.1234/a/b/c", PaperId("doi", "10.1234/a/b/c")),
        ("https://doi.org/10.1234/Abc", PaperId("doi", "10.1234/Abc")),
        ("http://dx.doi.org/10.1234/a%3Cb%3E", PaperId("doi", "10.1234/a<b>")),
        (
            "10.1002/(SICI)1097-4636(199823)43:4<338::AID-JBM16>3.0.CO;2-B",
            PaperId("doi", "10.1002/(SICI)1097-4636(199823)43:4<338::AID-JBM16>3.0.CO;2-B"),
        ),
        ("10.1234/a+b;c#d%e[f]", PaperId("doi", "10.1234/a+b;c#d%e[f]")),
        ("2401.12345", PaperId("arxiv", "2401.12345")),
        ("arXiv:2401.1234v3", PaperId("arxiv", "2401.1234v3")),
        ("cond-mat/9501001", PaperId("arxiv", "cond-mat/9501001")),
        ("astro-ph.CO/0703123v2", PaperId("arxiv", "astro-ph.CO/0703123v2")),
        ("pmid:123456", PaperId("pubmed", "pmid:123456")),
        ("PMC1234567", PaperId("pubmed", "PMC1234567")),
        ("https://pubmed.ncbi.nlm.nih.gov/123456/", PaperId("pubmed", "https://pubmed.ncbi.nlm.nih.gov/123456/")),
    ],
)
def test_a_reference_is_taken_without_its_scheme_and_keeps_its_case(text: str, ref: PaperId) -> None:
    assert parse_ref(text) == ref


@pytest.mark.parametrize(
    "text",
    [
        "",
        "otters",
        "10.12/a",
        "10.1234/",
        "doi:abc",
        "10.1234/a b",
        "10.1234/" + "a" * 257,
        '10.1234/a"b',
        "10.1234/../../etc",
        "arxiv:abc",
        "Cond/9501001",
    ],
)
def test_what_is_no_reference_is_refused(text: str) -> None:
    with pytest.raises(PaperFault) as caught:
        parse_ref(text)

    assert caught.value.code == "INVALID_REF"


def test_a_key_that_climbs_out_of_its_folder_is_a_fault() -> None:
    with pytest.raises(PaperFault, match="cannot name an entry") as caught:
        check_key(PaperId("doi", "10.1234/a..b").key)

    assert caught.value.code == "STORE_ERROR"


@pytest.mark.parametrize("key", ["", ".hidden", "a/b", "a\\b", "a\0b", "..", "a..b", "ä"])
def test_what_is_no_key_is_refused(key: str) -> None:
    with pytest.raises(PaperFault):
        check_key(key)


@given(st.sampled_from(["doi", "arxiv"]), st.text())
def test_a_key_is_short_and_plain_whatever_it_is_made_of(kind: str, value: str) -> None:
    key = PaperId(kind, value).key

    assert re.fullmatch(r"[A-Za-z0-9._-]{3,201}", key)
    assert "__" not in key[:192]
    assert PaperId(kind, value).key == key


@given(st.text(alphabet="10./abcABC:()-_v doi:arXivpmc", max_size=40))
def test_parsing_gives_a_reference_or_a_refusal_and_nothing_else(text: str) -> None:
    with contextlib.suppress(PaperFault):
        ref = parse_ref(text)
        assert parse_ref(ref.value if ref.kind == "pubmed" else f"{ref.kind}:{ref.value}") == ref
