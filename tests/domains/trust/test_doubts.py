"""What is not certain is told as such: addresses that prove nothing, silent registries, names oddly written."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
import trust_replay

from specloom.core.faults import Fault
from specloom.core.messages import Request, Response
from specloom.domains.text.doi import find_doi, to_doi
from specloom.domains.text.identifiers import detect
from specloom.domains.trust.citations.work import MOST_AUTHORS, to_work
from specloom.domains.trust.sources.recommendations import PATIENCE, audit_recommendations
from tests.support.shipped import shipped_model

DEEP = {"title": "Deep learning", "authors": [["LeCun", "Yann"], ["Bengio", "Yoshua"]], "year": 2015, "venue": "Nature"}
ICE = {"title": "How otters swim under winter ice", "authors": [["Otter", "Ann"]], "year": 2020}
CROSSREF = {"10.1038/nature14539": DEEP, "10.1234/ice": ICE}
DATACITE = {"10.48550/arxiv.1706.03762": {"title": "Attention Is All You Need", "authors": [["Vaswani", "Ashish"]]}}


class Web(trust_replay.World):
    """The registries, and pages: a title or the status of an error by address; `copies` are what the archive has."""

    def __init__(self, pages: Mapping[str, Any] | None = None, copies: Mapping[str, str] | None = None) -> None:
        super().__init__(CROSSREF, DATACITE, pages or {})
        self.copies = copies or {}
        self.down: tuple[str, ...] = ()
        self.polite = False

    def respond(self, request: Request) -> Response | Fault:
        if any(host in request.url for host in self.down):
            return Response(503, {}, b"", request.url)
        if "archive.org/wayback" in request.url:
            status = self.copies.get(str(dict(request.query)["url"]))
            copy = {
                "available": True,
                "url": "http://web.archive.org/web/2019/x",
                "timestamp": "2019",
                "status": status,
            }
            return trust_replay._json({"archived_snapshots": {"closest": copy} if status else {}})
        page = self.pages.get(request.url)
        if isinstance(page, int) and (request.method != "HEAD" or not self.polite):
            return Response(page, {"content-type": "text/html"}, b"<p>no</p>", request.url)
        if page is not None:
            text = "Otters live in rivers, and they eat fish on every day of the year. " * 5
            html = f"<html><head><title>{page}</title></head><body><h1>{page}</h1><p>{text}</p></body></html>"
            return Response(200, {"content-type": "text/html"}, html.encode(), request.url)
        return super().respond(request)


def call(tool: str, arguments: Mapping[str, Any], world: Web, asked: tuple[str, ...] = trust_replay.ASKED) -> Any:
    return asyncio.run(trust_replay.call(shipped_model(), tool, arguments, world, asked))


def verify(citation: str, world: Web | None = None) -> dict[str, Any]:
    return dict(call("verify_citation", {"citation": citation}, world or Web()))


def audit(*entries: Mapping[str, str], world: Web | None = None) -> dict[str, Any]:
    return dict(call("audit_bibliography", {"entries": list(entries)}, world or Web()))


# --- addresses beside words ---

INVENTED = "Smith, J. (2020). Quantum entanglement of otters at room temperature. Nature. "


def test_that_some_page_answers_confirms_no_invented_reference() -> None:
    said = verify(INVENTED + "https://www.example.org/", Web({"https://www.example.org/": "Nature"}))

    assert (said["exists"], said["verificationStatus"], said["linkLive"]) == (False, "uncertain", True)
    assert "its address leads to 'Nature', not certainly the work cited" in said["statusReason"]


@pytest.mark.parametrize(
    "citation",
    [
        "World Health Organization. (2023). Malaria fact sheet. https://who.example.org/m",
        "Malaria fact sheet, 2023. https://who.example.org/m",
        '"Malaria Fact Sheet." World Health Organization, https://who.example.org/m.',
    ],
)
def test_a_page_with_the_title_of_the_reference_confirms_it(citation: str) -> None:
    said = verify(citation, Web({"https://who.example.org/m": "Malaria fact sheet | WHO"}))

    assert (said["exists"], said["verificationStatus"], said["titleMatch"]) == (True, "confirmed", "match")
    assert any("leads to 'Malaria fact sheet" in line for line in said["provenance"])


def test_a_page_that_refuses_programs_leaves_a_reference_uncertain() -> None:
    said = verify(INVENTED + "https://shy.example.org/a", Web({"https://shy.example.org/a": 403}))

    assert (said["exists"], said["verificationStatus"]) == (False, "uncertain")
    assert "a page whose title could not be read" in said["statusReason"]


def test_a_reference_whose_address_gives_no_answer_is_unchecked() -> None:
    said = verify("Smith, J. (2020). Tariffs of Norwegian railways. https://nowhere.example.org/a")

    assert said["verificationStatus"] == "unchecked"
    assert "its address was not seen to answer" in said["statusReason"]


def test_an_address_that_gives_no_answer_is_unchecked_and_one_that_says_no_is_not_found() -> None:
    gone = Web({"https://gone.example.org/a": 404}, {"https://gone.example.org/a": "200"})

    silent, denied = verify("https://nowhere.example.org/a"), verify("https://gone.example.org/a", gone)

    assert (silent["verificationStatus"], silent["exists"]) == ("unchecked", False)
    assert denied["verificationStatus"] == "not_found"
    assert "it was there when it was archived: https://web.archive.org/web/2019/x" in denied["statusReason"]


def test_a_copy_of_an_error_is_no_copy() -> None:
    gone = Web({"https://gone.example.org/a": 404}, {"https://gone.example.org/a": "404"})

    assert "archivedUrl" not in verify("https://gone.example.org/a", gone)


def test_an_address_does_not_vouch_for_a_number_beside_it() -> None:
    home = Web({"https://www.example.org/": "Home", "https://arxiv.org/abs/2309.99999": "New"})

    beside, inside = (
        verify("https://www.example.org/ arXiv:2309.99999", home),
        verify("https://arxiv.org/abs/2309.99999", home),
    )

    assert (beside["exists"], beside["verificationStatus"]) == (False, "not_found")
    assert (inside["exists"], inside["verificationStatus"]) == (True, "confirmed")


# --- registries that are silent ---


def test_what_the_only_index_that_answers_has_not_is_unchecked_where_more_are_silent() -> None:
    world = Web()
    world.down = ("api.semanticscholar.org", "api.openalex.org")
    asked = ("crossref", "semanticscholar", "openalex", "doi_registry")

    said = call("verify_citation", {"citation": "Weir, B. (2020). The tariffs of railways in Norway."}, world, asked)

    assert said["verificationStatus"] == "unchecked"
    assert "could not be asked" in said["statusReason"]


def test_who_was_not_asked_is_not_told_as_having_nothing() -> None:
    world = Web()
    world.down = ("api.crossref.org",)

    said = call(
        "verify_citation", {"citation": "Weir, B. (2020). Railways in Norway."}, world, ("crossref", "openlibrary")
    )

    assert said["statusReason"] == "crossref could not be asked"
    assert said["provenance"][-1] == "search: openlibrary was not asked, since it lists works of one kind alone"


def test_a_claim_that_was_held_against_nothing_does_not_pass_without_a_word() -> None:
    said = audit(
        {"doi": "10.1234/ice", "title": "How otters swim under winter ice", "claim": "Ice is cold in Norway."},
        world=Web(),
    )

    assert said["summary"]["ok"] == 1
    assert said["entries"][0]["claimSupport"] == "source_unavailable"
    assert said["warning"] == "In 1 of 1 entries without a finding the source of the claim could not be read."


# --- what a citation and its record differ in ---


def test_a_real_identifier_with_invented_details_says_where_they_differ() -> None:
    said = verify("Smith, J. (1999). Deep learning. Cooking Today. doi:10.1038/nature14539")

    assert (said["exists"], said["titleMatch"]) == (True, "match")
    assert said["authenticityCaveat"] == (
        "The work exists, but the citation and its record differ in authors and year and venue: see comparison."
    )


def test_prose_that_names_an_author_accuses_nobody() -> None:
    said = verify("as LeCun et al. showed, deep learning works (10.1038/nature14539)")

    assert {one["field"]: one["verdict"] for one in said["comparison"]}["authors"] == "match"


def test_only_the_first_of_several_dois_is_looked_up_and_the_answer_says_so() -> None:
    said = verify("10.1038/nature14539 and 10.1234/ice")

    assert said["matchedRecord"]["title"] == "Deep learning"
    assert "identifier: only the first DOI was looked up, and not 10.1234/ice" in said["provenance"]


def test_of_equally_sure_records_the_one_is_told_that_agrees_in_most() -> None:
    world = Web()
    bare = {"title": "How otters hunt in summer rivers", "authors": []}
    whole = {**bare, "authors": [["Doe", "Jane"]], "year": 2001}
    world.crossref = {"10.1234/bare": bare, "10.1234/whole": whole}

    said = verify("Doe, J. (2001). How otters hunt in summer rivers. Journal of Otters.", world)

    assert said["matchedRecord"]["doi"] == "10.1234/whole"


# --- DOIs as they are pasted ---


@pytest.mark.parametrize(
    ("text", "doi"),
    [
        ("https://doi.org/10.1038/nature14539#abstract", "10.1038/nature14539"),
        ("https://doi.org/10.1000/a%23b", "10.1000/a#b"),
        ("https://www.example.org/#/doi/10.1038/nature14539", "10.1038/nature14539"),
        ("doi.org/10.1038/nature14539", "10.1038/nature14539"),
        ("www.doi.org/10.1038/nature14539/", "10.1038/nature14539"),
        ("10.1016/S0140‐6736(97)11096–0", "10.1016/s0140-6736(97)11096-0"),
        ("10.1038/nature14539 – a landmark", "10.1038/nature14539"),
        (r"10.1007/978-3-319-10602-1\_48", "10.1007/978-3-319-10602-1_48"),
        ("doi:10.1038/nature14539.PMID:26017442", "10.1038/nature14539"),
    ],
)
def test_a_doi_is_read_whole_and_no_more_than_it(text: str, doi: str) -> None:
    assert find_doi(text) == doi


@pytest.mark.parametrize(
    "text", ["doi.org/10.1038/nature14539", "DX.DOI.ORG/10.1038/NATURE14539", "10.1038/nat\u200bure14539"]
)
def test_a_field_that_holds_a_doi_gives_it(text: str) -> None:
    assert to_doi(text) == "10.1038/nature14539"
    assert detect("doi.org/10.1038/nature14539/").rest == ""
    assert verify(text)["matchedRecord"]["title"] == "Deep learning"


# --- audits ---


def test_a_doi_that_nobody_gave_out_is_flagged_although_the_link_answers_and_the_right_one_is_named() -> None:
    said = audit(
        {"doi": "10.5555/none", "url": "https://ok.example.org/", "title": ICE["title"], "author": "Otter, Ann"},
        world=Web({"https://ok.example.org/": "Ok"}),
    )

    (entry,) = said["entries"]
    assert (entry["exists"], entry["flags"], entry["linkLive"]) == (False, ["not_found"], True)
    assert entry["reason"] == (
        "10.5555/none is not registered with any agency; a work of this title has the DOI 10.1234/ice"
    )
    assert "matchedTitle" not in entry
    assert "matchConfidence" not in entry
    assert said["summary"]["ok"] == 0


def test_the_number_in_an_address_is_looked_up_and_its_record_compared() -> None:
    pages = {"https://arxiv.org/abs/1706.03762": "Attention", "https://arxiv.org/abs/2609.00001": "New"}

    said = audit(
        {"url": "https://arxiv.org/abs/1706.03762", "title": "Attention is all you need"},
        {"url": "https://arxiv.org/abs/1706.03762", "title": "Quantum entanglement of otters in cold rivers"},
        {"url": "https://arxiv.org/abs/2609.00001", "title": "New results"},
        {"url": "https://arxiv.org/abs/2309.99999", "title": "Quantum entanglement of otters"},
        world=Web(pages),
    )

    right, wrong, new, none = said["entries"]
    assert (right["exists"], right["titleMatch"]) == (True, "match")
    assert (wrong["exists"], wrong["titleMatch"]) == (True, "mismatch")
    assert (new["exists"], new["flags"]) == (False, ["unchecked"]), "what was put there today may not be registered"
    assert none["flags"] == ["dead_link", "not_found"]
    assert said["warning"].startswith("In 1 of 4 entries the identifier is that of a work with another title")


def test_entries_say_what_is_wrong_with_what_they_give() -> None:
    said = audit(
        {"doi": "12.1234/x", "title": "The tariffs of railways in Norway"},
        {"doi": "10.1038/nature14539", "title": "Deep learning", "author": "LeCun, Y.", "date": "1999"},
    )

    one, two = said["entries"]
    assert one["reason"].startswith(
        "'12.1234/x' is no DOI: those begin with 10. and have a stroke; nothing confirms it"
    )
    assert two["reason"] == "the record has another year: '2015'"


# --- records of strangers ---


def test_a_record_is_told_without_markup_and_without_thousands_of_names() -> None:
    row = {
        "title": "Deep &lt;b&gt;learning&lt;/b&gt;\u202e",
        "authors": [f"Otter, Ann <b>{at}</b>" for at in range(3000)],
        "publisher": "Holt <script>x</script>",
        "abstract": "They <i>paddle</i>.",
    }

    said = to_work(row, "crossref").to_json()

    assert said["title"] == "Deep learning"
    assert (len(said["authors"]), said["authorCount"], said["authors"][0]) == (MOST_AUTHORS, 3000, "Ann 0 Otter")
    assert (said["publisher"], said["abstract"]) == ("Holt x", "They paddle.")
    assert "<" not in json.dumps(said)


def test_a_title_that_calls_the_work_retracted_is_told_where_no_notice_is_listed() -> None:
    world = Web()
    world.crossref = {"10.1234/gone": {**ICE, "title": "RETRACTED: How otters swim under winter ice"}}

    by_doi = verify("10.1234/gone", world)
    by_title = verify("Otter, A. (2020). How otters swim under winter ice. Journal of Otters.", world)
    (entry,) = audit({"doi": "10.1234/gone"}, world=world)["entries"]

    said = "No notice is listed, but the recorded title says that the work was retracted or withdrawn."
    assert by_doi["authenticityCaveat"].startswith(said)
    assert by_title["authenticityCaveat"] == said
    assert "retractionStatus" not in by_doi
    assert by_doi["provenance"][-1] == (
        "retraction: crossref lists no notice, but the recorded title says that it was retracted"
    )
    assert entry["flags"] == [], "only a notice makes a retraction"
    assert entry["reason"] == "no notice is listed, but the recorded title says that the work was retracted"


def test_a_copy_is_asked_for_by_the_day_since_without_one_the_archive_may_say_that_it_has_none() -> None:
    asked: list[dict[str, object]] = []

    class Watched(Web):
        def respond(self, request: Request) -> Response | Fault:
            if "archive.org/wayback" in request.url:
                asked.append(dict(request.query))
            return super().respond(request)

    verify("https://gone.example.org/a", Watched({"https://gone.example.org/a": 404}))
    audit({"url": "https://gone.example.org/a", "date": "2019-02"}, world=Watched({"https://gone.example.org/a": 404}))

    assert [query["timestamp"] for query in asked] == ["20260101", "201902"]


@pytest.mark.parametrize(
    ("title", "reason"),
    [
        ("Page not found | Otter News", "the page says that it is gone: 'Page not found | Otter News'"),
        ("This domain is for sale", "the page says that the domain is for sale"),
    ],
)
def test_a_page_that_is_not_there_is_dead_although_it_comes_with_success(title: str, reason: str) -> None:
    pages = {"https://a.example.org/x/otters": title, "https://web.archive.org/web/2019/x": "How otters swim"}
    copies = {"https://a.example.org/x/otters": "200"}

    address = verify("https://a.example.org/x/otters", Web(pages))
    kept = verify("https://a.example.org/x/otters", Web(pages, copies))
    named = verify("Weir, B. (2020). How otters swim. https://a.example.org/x/otters", Web(pages, copies))

    assert (address["exists"], address["linkLive"], address["httpStatus"]) == (False, False, 200)
    assert (address["verificationStatus"], address["statusReason"]) == ("not_found", reason)
    assert kept["archivedUrl"] == "https://web.archive.org/web/2019/x"
    assert (named["linkLive"], named["verificationStatus"]) == (False, "confirmed")


def test_a_server_that_is_friendly_to_head_alone_does_not_make_a_page() -> None:
    world = Web({"https://a.example.org/x/otters": 404})
    world.polite = True

    said = verify("https://a.example.org/x/otters", world)

    assert (said["exists"], said["verificationStatus"]) == (False, "not_found")
    assert (said["httpStatus"], said["statusReason"]) == (404, "the server answers with status 404")


def test_a_site_that_is_called_404_is_there() -> None:
    said = verify("https://404.example.org/", Web({"https://404.example.org/": "404 Media"}))

    assert (said["exists"], said["linkLive"]) == (True, True)


def test_a_book_that_is_found_by_its_words_is_asked_for_notices() -> None:
    world = Web()
    world.crossref = {"10.1234/gone": {**ICE, "updates": [{"type": "retraction", "year": 2021}]}}

    said = verify("Otter, A. (2020). How otters swim under winter ice. ISBN 978-0-306-40615-7", world)

    assert (said["exists"], said["titleMatch"]) == (True, "match")
    assert said["retractionStatus"]["retracted"] is True


# --- what an audit says of records ---


def test_a_registered_doi_whose_record_nobody_has_is_not_passed_without_a_word() -> None:
    world = Web()
    world.down = ("api.crossref.org",)

    [entry] = audit({"doi": "10.1234/ice", "title": "Something else entirely"}, world=world)["entries"]
    said = verify("10.1234/ice", world)

    assert (entry["exists"], entry["flags"]) == (True, ["unchecked"])
    assert entry["reason"].endswith("title, authors and notices were not checked")
    assert (said["verificationStatus"], said["titleMatch"]) == ("confirmed", "not_checked")
    assert "whether it was retracted, is not known" in said["authenticityCaveat"]


@pytest.mark.parametrize("text", ["%0 Journal Article\n%A Otter, Ann", "Otters are nice.", "Dear Ann,\n\nhow are you?"])
def test_a_list_in_no_format_is_refused_with_what_to_do(text: str) -> None:
    with pytest.raises(Fault, match="no line of it has a year, an address or an identifier"):
        call("audit_bibliography", {"bibliography": text}, Web())


def test_invented_authors_and_years_of_real_works_are_in_the_warning() -> None:
    ice = {"doi": "10.1234/ice", "title": "How otters swim under winter ice", "author": "Otter, Ann", "date": "2020"}

    right = audit(ice)
    wrong = audit(ice, {**ice, "author": "Smith, John"}, {**ice, "date": "2003"})

    assert "other authors" not in right["warning"]
    assert "In 2 of 3 entries the record has other authors or another year" in wrong["warning"]
    assert [one.get("reason") for one in wrong["entries"]] == [
        None,
        "the record has another author: 'Otter, Ann'",
        "the record has another year: '2020'",
    ]


def test_a_reference_that_is_not_certain_says_in_what_its_record_differs() -> None:
    said = verify("1. Smith J, Doe A. How otters swim under winter ice. J Otters. 2020;3:1-5.")

    assert (said["exists"], said["verificationStatus"]) == (False, "uncertain")
    assert said["statusReason"].endswith("only: it differs in authors, see possibleMatch")


def test_doubts_of_a_publisher_are_a_reason_and_no_flag() -> None:
    world = Web()
    world.crossref = {"10.1234/doubt": {**ICE, "updates": [{"type": "expression_of_concern", "year": 2021}]}}

    [entry] = audit({"doi": "10.1234/doubt", "title": ICE["title"]}, world=world)["entries"]

    assert entry["flags"] == []
    assert entry["reason"] == "doubts about the work were published on 2021-01-01, which is no retraction"


# --- recommendations ---


class LateDesk:
    """A context whose clock stands at the beginning once and then behind the end."""

    allow_private = False

    def __init__(self) -> None:
        self.read = 0

    def now(self) -> float:
        self.read += 1
        return 0.0 if self.read == 1 else PATIENCE + 1.0

    def tell(self, done: float, total: float | None, message: str) -> None:
        """Nobody listens."""


def test_a_recommendation_for_which_no_time_was_left_says_so() -> None:
    lenses = [{"name": "news", "domains": ["news.example"]}]

    said = asyncio.run(
        audit_recommendations(LateDesk(), [{"title": "Otterware"}], claim="finds fish", lenses=lenses, most=5)  # type: ignore[arg-type]
    )

    (item,) = said.recommendations
    assert item.reasons == ("the call had no time left to look into it further",)
    assert item.corroboration_searches is None
