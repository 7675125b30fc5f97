"""Sources that are not independent of each other count once, and those that are do not."""

from __future__ import annotations

from dataclasses import replace

from specloom.domains.trust.evidence.independence import Witness, find_groups, find_wire

REPORT = (
    "The river was high when the warden counted the otters of the valley for the ninth time, and what she found "
    "surprised the council: forty animals lived along its banks, twice as many as ten years before, though the winter "
    "had been hard and two bridges were rebuilt below the mill, where most of them had their holts until then."
)
OTHER = (
    "A study of sea otters off the coast of California shows how kelp comes back where they hunt urchins; divers "
    "counted plants on forty plots for six summers and compared them with plots in bays where no otter has been seen "
    "since the fur trade, and the difference was large in every year but the first one."
)


def groups_of(*witnesses: Witness) -> list[tuple[tuple[int, ...], str]]:
    return [(group.members, group.why) for group in find_groups(witnesses)]


def at(url: str, text: str = "", **more: object) -> Witness:
    return replace(Witness(url, text=text), **more)  # type: ignore[arg-type]


def test_different_sites_with_different_texts_are_independent() -> None:
    assert groups_of(at("https://a.example.com/1", REPORT), at("https://b.example.org/2", OTHER)) == []


def test_one_text_on_two_sites_counts_once_also_with_something_added() -> None:
    copy = f"From our correspondents.\n\n{REPORT} Read more tomorrow."

    ((members, why),) = groups_of(
        at("https://a.org/1", REPORT), at("https://c.org/", OTHER), at("https://b.com/2", copy)
    )

    assert members == (0, 2)
    assert why.startswith("the same text")


def test_what_two_short_texts_share_makes_no_copy() -> None:
    short = "Otters are back in the valley, says the council."

    assert groups_of(at("https://a.org/1", short), at("https://b.com/2", short)) == []


def test_pages_of_one_site_count_once_and_papers_of_one_host_do_not() -> None:
    assert groups_of(at("https://news.paper.co.uk/1", REPORT), at("https://www.paper.co.uk/2", OTHER)) == [
        ((0, 1), "the same publisher, paper.co.uk")
    ]
    papers = [at(f"https://doi.org/10.1234/{number}", doi=f"10.1234/{number}", is_work=True) for number in (1, 2)]
    assert groups_of(*papers) == []


def test_names_under_a_suffix_for_strangers_are_different_publishers() -> None:
    assert groups_of(at("https://ann.github.io/1", REPORT), at("https://bob.github.io/1", OTHER)) == []


def test_a_host_with_several_outlets_is_none_of_them() -> None:
    links = [at(f"https://news.aggregator.com/{name}", outlet=name) for name in ("The Bee", "The Wasp", "The Bee")]

    assert [members for members, _ in groups_of(*links)] == [(0, 2)]


def test_a_work_and_its_preprint_or_its_page_elsewhere_are_one() -> None:
    title = "Winter diet of river otters in northern valleys"
    article = at(
        "https://doi.org/10.1234/1", doi="10.1234/1", title=title, authors=("Ann Otter", "Bob Weir"), is_work=True
    )
    preprint = at(
        "https://arxiv.org/abs/2401.1",
        doi="10.48550/arxiv.2401.1",
        title=title,
        authors=("Otter, A.", "Weir, B."),
        is_work=True,
    )
    other = replace(preprint, doi="10.1234/9", title=f"{title}: part 2", authors=("Cy Mink",))
    page = at("https://press.example.com/x", doi="10.1234/1")

    assert groups_of(article, other, preprint) == [((0, 2), "the same work")]
    assert groups_of(article, page) == [((0, 1), "the same work")]


def test_papers_of_the_same_authors_count_once() -> None:
    one = at("https://doi.org/10.1/1", doi="10.1/1", authors=("Ann Otter", "Bob Weir", "Cy Mink"), is_work=True)
    two = at("https://doi.org/10.1/2", doi="10.1/2", authors=("A. Otter", "C. Mink", "D. Vole"), is_work=True)
    three = at(
        "https://doi.org/10.1/3", doi="10.1/3", authors=("Ann Otter", "E. Hare", "F. Stoat", "G. Rat"), is_work=True
    )

    assert groups_of(one, two, three) == [((0, 1), "the same authors")]


def test_texts_that_credit_one_agency_on_one_day_count_once() -> None:
    left = at("https://a.org/1", f"LONDON (Reuters) - {REPORT}", day="2024-01-05")
    right = at("https://b.com/2", f"{OTHER}\n\n(Reuters)", day="2024-01-05")

    assert groups_of(left, right) == [((0, 1), "both credit Reuters")]
    assert groups_of(left, replace(right, day="2023-02-01")) == []


def test_a_name_in_running_text_is_no_credit() -> None:
    assert find_wire("Reuters has reported that otters, unlike AP and others say, are back.") == ""
    assert find_wire("BERLIN (dpa) - Otter sind zurück.") == "dpa"
    assert find_wire("SOURCE: PR Newswire") == "PR Newswire"


def test_groups_that_share_a_member_are_one() -> None:
    one = at("https://a.org/1", REPORT)
    two = at("https://a.org/2", OTHER)
    three = at("https://b.com/3", OTHER)

    ((members, why),) = groups_of(one, two, three)

    assert members == (0, 1, 2)
    assert "the same publisher, a.org" in why
    assert "the same text" in why
