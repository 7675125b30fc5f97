"""What a source is said to have of a claim: its words, and neither the marks nor the addresses of its Markdown."""

from __future__ import annotations

import pytest

from specloom.domains.trust.claims.coverage import SourceReading, judge_claim

CLAIM = "Sea otters eat urchins in kelp forests"
ELSEWHERE = "The bridge over the bay was opened to cars in May, and the road behind it leads to the old town."
ADDRESS = "https://a.example/sea-otters-eat-urchins-in-kelp-forests"


@pytest.mark.parametrize(
    "link",
    [
        f"[More]({ADDRESS}) of the day.",
        f"![A picture]({ADDRESS}.png) of the day.",
        f"More: {ADDRESS} is of the day.",
        f"More: <{ADDRESS}> is of the day.",
    ],
)
def test_words_in_the_address_of_a_link_support_no_claim(link: str) -> None:
    found = judge_claim(CLAIM, SourceReading({"content": f"# News\n\n{ELSEWHERE}\n\n{link}"}, "https://a.example/"))

    assert (found.check.claim_support, found.check.claim_coverage, found.check.claim_evidence) == (
        "not_addressed",
        0.0,
        (),
    )


def test_evidence_is_told_without_marks() -> None:
    text = f"## Food\n\n{ELSEWHERE}\n\n- **Sea otters** eat [urchins]({ADDRESS}) in *kelp* forests."

    found = judge_claim(CLAIM, SourceReading({"content": text}, "https://a.example/"))

    assert found.check.claim_support == "addressed"
    assert found.check.claim_evidence == ("Sea otters eat urchins in kelp forests.",)
