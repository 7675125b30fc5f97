"""What names a paper: identifiers in every form in which people paste them, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specloom.domains.text.identifiers import PaperName, to_paper_name

OTTERS = "10.1000/otters.1"
DIGITS = "204e3073870fae3d05bcbc2f6a8e263d9b72e776"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (OTTERS, PaperName(doi=OTTERS)),
        (" DOI: 10.1000/Otters.1 ", PaperName(doi=OTTERS)),
        (f"https://doi.org/{OTTERS}#top", PaperName(doi=OTTERS, address=f"https://doi.org/{OTTERS}#top")),
        (f"https://a.example/{OTTERS}/full", PaperName(doi=OTTERS, address=f"https://a.example/{OTTERS}/full")),
        (
            "https://a.example/p?id=10.1000%2Fx1",
            PaperName(doi="10.1000/x1", address="https://a.example/p?id=10.1000%2Fx1"),
        ),
        ("10.48550/arXiv.1706.03762", PaperName(doi="10.48550/arxiv.1706.03762", arxiv_id="1706.03762")),
        ("arXiv:1706.03762v5", PaperName(arxiv_id="1706.03762")),
        ("1706.03762", PaperName(arxiv_id="1706.03762")),
        (
            "https://arxiv.org/pdf/1706.03762v5.pdf",
            PaperName(arxiv_id="1706.03762", address="https://arxiv.org/pdf/1706.03762v5.pdf"),
        ),
        ("math.GT/0309136", PaperName(arxiv_id="math/0309136")),
        ("pmc100", PaperName(pmcid="PMC100")),
        ("PMCID: PMC100", PaperName(pmcid="PMC100")),
        (
            "https://pmc.ncbi.nlm.nih.gov/articles/PMC100/pdf/a.pdf",
            PaperName(pmcid="PMC100", address="https://pmc.ncbi.nlm.nih.gov/articles/PMC100/pdf/a.pdf"),
        ),
        ("PMID: 29456894", PaperName(pmid="29456894")),
        (
            "https://pubmed.ncbi.nlm.nih.gov/29456894/?x=1",
            PaperName(pmid="29456894", address="https://pubmed.ncbi.nlm.nih.gov/29456894/?x=1"),
        ),
        (DIGITS.upper(), PaperName(index_id=DIGITS)),
        ("corpusid:77", PaperName(index_id="CorpusId:77")),
        (
            f"https://www.semanticscholar.org/paper/Attention/{DIGITS}",
            PaperName(index_id=DIGITS, address=f"https://www.semanticscholar.org/paper/Attention/{DIGITS}"),
        ),
        (
            "https://api.semanticscholar.org/CorpusID:77",
            PaperName(index_id="CorpusId:77", address="https://api.semanticscholar.org/CorpusID:77"),
        ),
        ("https://zoo.example/diet", PaperName(address="https://zoo.example/diet")),
    ],
)
def test_a_paper_is_known_by_any_of_its_names(text: str, named: PaperName) -> None:
    assert to_paper_name(text) == named


@pytest.mark.parametrize(
    "text",
    [
        "",
        "What otters eat",
        "29456894",
        "210.1000/otters.1",
        "see 10.1000/otters.1 please",
        "otters (arXiv:1706.03762)",
        "file:///etc/passwd",
        "https://",
        "PMC",
        "CorpusId:",
        "PMC100 and PMC200 are one",
    ],
)
def test_words_and_bare_numbers_name_no_paper(text: str) -> None:
    assert not to_paper_name(text)


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("10.1000/a<b", "https://doi.org/10.1000/a%3Cb"),
        ("pmid:9", "https://pubmed.ncbi.nlm.nih.gov/9/"),
        ("PMC100", "https://pmc.ncbi.nlm.nih.gov/articles/PMC100/"),
        ("1706.03762", "https://arxiv.org/abs/1706.03762"),
        (DIGITS, ""),
        (f"https://a.example/{OTTERS}", f"https://a.example/{OTTERS}"),
    ],
)
def test_a_name_leads_to_a_page(text: str, page: str) -> None:
    assert to_paper_name(text).to_page() == page


@given(
    st.text(max_size=200)
    | st.builds("{}{}".format, st.sampled_from(["10.", "pmid:", "PMC", "arXiv:", "https://"]), st.text(max_size=60))
)
def test_any_text_is_read_and_a_bare_name_names_itself(text: str) -> None:
    name = to_paper_name(text)

    for value in (name.doi, name.pmcid):
        assert not value or value in (to_paper_name(value).doi, to_paper_name(value).pmcid)
