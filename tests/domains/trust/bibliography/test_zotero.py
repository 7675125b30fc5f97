"""Items of Zotero: what each kind has room for stands in its fields, the rest in Extra, and all of it comes back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from specloom.domains.text import Name
from specloom.domains.trust.bibliography import zotero
from specloom.domains.trust.bibliography.csl import DATES, MORE, ROLES
from specloom.domains.trust.bibliography.documents import parse_bibliography
from specloom.domains.trust.bibliography.entry import KINDS, BibliographyEntry, normalize, read_names
from specloom.domains.trust.bibliography.losses import find_losses
from specloom.domains.trust.bibliography.styles import write_list

WEIR = Name("Weir", "Ann")
WHOLE = BibliographyEntry(
    title="How otters swim",
    short_title="Otters",
    authors=(WEIR, Name("van der Reed", "Bo", "Jr.", "van der"), Name("Otter Survey")),
    editors=(Name("Lake", "Cy"),),
    translators=(Name("Dam", "Di"),),
    roles=(("collection-editor", (Name("Holt", "Ed"),)), ("director", (Name("Fen", "Flo"),)), ("host", (WEIR,))),
    container="Rivers",
    short_container="Riv.",
    series="Waters",
    series_number="4",
    issued=(2021, 3, 5),
    accessed="2024-02-03",
    doi="10.1234/otters",
    url="https://otters.example/1",
    publisher="Weir Press",
    place="Bonn",
    volume="7",
    issue="2",
    pages="1-9",
    number="TR-5",
    edition="2",
    genre="Survey",
    event="Otter Days",
    isbn="9780306406157",
    issn="1234-5679",
    pmid="12345",
    pmcid="PMC678",
    language="en",
    abstract="They swim.",
    note="With maps",
    annote="Read part two & three",
    keywords=("river", "a, b"),
    key="Mine:21",
    more=(("event-place", "Rome"), ("jurisdiction", "IT"), ("medium", "Film"), ("original-date", "1999-10")),
)
TYPES = sorted({*KINDS, *read_names("csl")[1]})


def written(*entries: BibliographyEntry) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads(zotero.to_zotero(entries))
    return items


def read(*items: dict[str, Any]) -> list[BibliographyEntry]:
    return list(parse_bibliography(json.dumps(items), "zotero-json", is_linked=False).entries)


def of_type(type_: str) -> BibliographyEntry:
    kind = type_ if type_ in KINDS else read_names("csl")[1][type_]
    more = (*WHOLE.more, ("type", type_)) if kind != type_ else WHOLE.more
    return normalize(replace(WHOLE, kind=kind, more=more))


@pytest.mark.parametrize("type_", TYPES)
def test_a_work_of_every_type_comes_back_as_it_was(type_: str) -> None:
    entry = of_type(type_)

    assert read(*written(entry)) == [entry]


@pytest.mark.parametrize("type_", TYPES)
def test_an_item_has_only_what_its_kind_has_room_for(type_: str) -> None:
    (item,) = written(of_type(type_))
    row = zotero._TABLE["kinds"][item["itemType"]]
    own = {field.partition("=")[0] for field in row.get("fields", "").split()}
    allowed = {*own, *zotero._TABLE["common"].split()} - {*row.get("lacks", "").split()}
    renamed = {field.partition("=")[2] for field in row.get("fields", "").split()} - own

    assert set(item) - {"itemType", "creators", "tags", "extra", "notes"} <= allowed - renamed
    assert {creator["creatorType"] for creator in item["creators"]} <= {*row["creators"].split()}


def test_every_variable_that_is_kept_has_a_place() -> None:
    more = tuple(sorted((name, "1999" if name in DATES else f"value of {name}") for name in (*MORE, *DATES)))
    roles = tuple((role, (WEIR,)) for role in ROLES)
    entry = normalize(replace(WHOLE, kind="article-journal", more=more, roles=roles))

    assert read(*written(entry)) == [entry]


def test_an_article_is_written_as_zotero_has_one() -> None:
    assert written(of_type("article-journal")) == [
        {
            "itemType": "journalArticle",
            "title": "How otters swim",
            "shortTitle": "Otters",
            "publicationTitle": "Rivers",
            "journalAbbreviation": "Riv.",
            "series": "Waters",
            "publisher": "Weir Press",
            "place": "Bonn",
            "volume": "7",
            "issue": "2",
            "pages": "1-9",
            "DOI": "10.1234/otters",
            "ISSN": "1234-5679",
            "PMID": "12345",
            "PMCID": "PMC678",
            "language": "en",
            "abstractNote": "They swim.",
            "url": "https://otters.example/1",
            "date": "2021-03-05",
            "accessDate": "2024-02-03",
            "creators": [
                {"creatorType": "author", "firstName": "Ann", "lastName": "Weir"},
                {"creatorType": "author", "firstName": "Bo, Jr.", "lastName": "van der Reed"},
                {"creatorType": "author", "name": "Otter Survey"},
                {"creatorType": "editor", "firstName": "Cy", "lastName": "Lake"},
                {"creatorType": "translator", "firstName": "Di", "lastName": "Dam"},
            ],
            "extra": "Citation Key: Mine:21\nCollection Editor: Holt || Ed\nDirector: Fen || Flo\nHost: Weir || Ann\n"
            "Collection Number: 4\nNumber: TR-5\nEdition: 2\nGenre: Survey\nEvent Title: Otter Days\n"
            "ISBN: 9780306406157\nEvent Place: Rome\nJurisdiction: IT\nMedium: Film\nOriginal Date: 1999-10\nWith maps",
            "tags": [{"tag": "river"}, {"tag": "a, b"}],
            "notes": [{"note": "<p>Read part two &amp; three</p>"}],
        }
    ]


@pytest.mark.parametrize(
    ("type_", "fields"),
    [
        (
            "legal_case",
            {
                "itemType": "case",
                "caseName": "How otters swim",
                "dateDecided": "2021-03-05",
                "docketNumber": "TR-5",
                "reporter": "Rivers",
                "firstPage": "1-9",
            },
        ),
        (
            "legislation",
            {
                "itemType": "statute",
                "nameOfAct": "How otters swim",
                "publicLawNumber": "TR-5",
                "code": "Rivers",
                "codeNumber": "7",
            },
        ),
        ("patent", {"itemType": "patent", "issueDate": "2021-03-05", "patentNumber": "TR-5"}),
        ("thesis", {"itemType": "thesis", "university": "Weir Press", "thesisType": "Survey"}),
        (
            "report",
            {"itemType": "report", "institution": "Weir Press", "reportNumber": "TR-5", "seriesTitle": "Waters"},
        ),
        ("chapter", {"itemType": "bookSection", "bookTitle": "Rivers", "series": "Waters", "seriesNumber": "4"}),
        ("entry-encyclopedia", {"itemType": "encyclopediaArticle", "encyclopediaTitle": "Rivers"}),
        ("broadcast", {"itemType": "tvBroadcast", "programTitle": "Rivers", "network": "Weir Press"}),
        ("article", {"itemType": "preprint", "repository": "Weir Press", "archiveID": "TR-5", "genre": "Survey"}),
        ("software", {"itemType": "computerProgram", "company": "Weir Press", "versionNumber": "2"}),
        ("speech", {"itemType": "presentation", "meetingName": "Otter Days", "sessionTitle": "Rivers"}),
    ],
)
def test_fields_are_called_as_their_kind_calls_them(type_: str, fields: dict[str, str]) -> None:
    (item,) = written(of_type(type_))

    assert {name: item.get(name) for name in fields} == fields


@pytest.mark.parametrize(
    ("issued", "dated", "date", "extra"),
    [
        ((2021,), "", "2021", None),
        ((2021, 3), "", "2021-03", None),
        ((2014,), "2014-22", "Summer 2014", None),
        ((1910,), "1910/1913", "1910", "Issued: 1910/1913"),
        ((1590,), "1590~", "1590", "Issued: 1590~"),
        ((), "-0299~", None, "Issued: -0299~"),
    ],
)
def test_a_date_is_written_as_people_do_and_what_it_cannot_say_stands_in_extra(
    issued: tuple[int, ...], dated: str, date: str | None, extra: str | None
) -> None:
    entry = normalize(BibliographyEntry(title="Otters", kind="book", issued=issued, dated=dated))
    (item,) = written(entry)

    assert (item.get("date"), item.get("extra")) == (date, extra)
    assert read(item) == [entry]


@pytest.mark.parametrize(
    ("date", "told"),
    [
        ("March 5, 2021", "2021-03-05"),
        ("2021-03-05T10:00:00Z", "2021-03-05"),
        ("Fall 2014", "2014-23"),
        ("1999/2001", "1999/2001"),
    ],
)
def test_dates_that_people_wrote_are_read(date: str, told: str) -> None:
    assert read({"itemType": "book", "title": "Otters", "date": date})[0].date == told


def test_an_item_is_read_with_what_a_person_wrote_in_extra() -> None:
    extra = "tex.ids: old\nCitation Key: weir:1\nPMCID: PMC1\nOriginal Date: 1880\nPublisher: Other\nSee: page 3"
    data = {
        "itemType": "videoRecording",
        "title": "Otters",
        "studio": "Weir Films",
        "creators": [
            {"creatorType": "director", "firstName": "", "lastName": "Fen"},
            {"creatorType": "castMember", "name": "An Otter"},
        ],
        "extra": extra,
        "tags": [{"tag": "river", "type": 1}],
    }
    (entry,) = read({"key": "ABCD2345", "version": 3, "data": data})

    assert (entry.kind, entry.publisher, entry.key, entry.pmcid) == ("motion_picture", "Weir Films", "weir:1", "PMC1")
    assert entry.note == "tex.ids: old Publisher: Other See: page 3"
    assert dict(entry.roles) == {"director": (Name("Fen"),), "performer": (Name("An Otter"),)}
    assert dict(entry.more) == {"original-date": "1880"}
    assert entry.keywords == ("river",)


def test_the_key_of_a_field_of_its_own_comes_before_one_in_extra() -> None:
    item = {"itemType": "book", "title": "Otters", "citationKey": "new", "extra": "Citation Key: old"}

    assert read(item)[0].key == "new"


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"itemType": "attachment", "title": "a.pdf"}, "this is no work but one's attachment"),
        ({"itemType": "otter"}, "Zotero has no kind of item that is called 'otter'"),
        ({"title": "Otters"}, "the item has no itemType"),
        (["otters"], "an item has to be an object, and this is list"),
    ],
)
def test_what_is_no_work_is_told_and_costs_no_other(item: object, message: str) -> None:
    found = parse_bibliography(json.dumps([item, {"itemType": "book", "title": "Weirs"}]), "zotero-json")

    assert [problem.message for problem in found.problems] == [message]
    assert [entry.title for entry in found.entries] == ["Weirs"]


def test_what_an_item_cannot_hold_is_told() -> None:
    entry = replace(of_type("book"), collections=("thesis",), files=("otters.pdf",))

    assert find_losses([entry], zotero.to_zotero([entry]), "zotero-json") == {"collections": 1, "files": 1}


def test_the_table_agrees_with_the_kinds_that_there_are() -> None:
    rows = zotero._TABLE["kinds"]

    assert len(rows) == 37
    assert set(zotero._TABLE["others"].values()) <= set(rows)
    assert {row["csl"] for row in rows.values()} <= set(TYPES)
    assert yaml.safe_dump(rows)


def test_a_film_is_cited_under_its_director() -> None:
    film = {
        "itemType": "film",
        "title": "Otters",
        "date": "1927",
        "creators": [{"creatorType": "director", "firstName": "Flo", "lastName": "Fen"}],
    }

    assert write_list(read(film), "apa")[0].startswith("Fen, F. (1927)")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12) | st.just("2001"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(("name", "lastName", "firstName", "creatorType", "tag", "note", "raw")), inner, max_size=3
        )
    ),
    max_leaves=6,
)
FIELDS = (
    "title", "date", "accessDate", "extra", "citationKey", "creators", "tags", "notes", "DOI", "ISBN", "url", "volume",
    "data", "key", "itemType",
)  # fmt: skip


@given(item=st.dictionaries(st.sampled_from(FIELDS), VALUES))
@settings(max_examples=200, deadline=None)
def test_no_value_of_any_field_costs_another_item(item: dict[str, Any]) -> None:
    found = parse_bibliography(json.dumps([{"itemType": "book", **item}, {"itemType": "book", "title": "Weirs"}]))

    assert found.entries[-1].title == "Weirs"
    assert len(found.entries) + len(found.problems) == 2


@pytest.mark.parametrize("field", ["creators", "tags", "notes", "extra", "date", "volume"])
@pytest.mark.parametrize("value", [5, True, {"x": [1]}, [[5], None, {"x": {}}]])
def test_a_field_that_is_no_such_thing_is_passed_over(field: str, value: object) -> None:
    (entry,) = read({"itemType": "book", "title": "Otters", field: value})

    assert entry.title == "Otters"
    assert "{" not in repr(entry)


def test_makers_tags_and_notes_may_be_plain_texts() -> None:
    item = {"itemType": "book", "title": "Otters", "creators": ["Weir, Ann"], "tags": "river", "notes": ["<p>mine</p>"]}
    (entry,) = read(item)

    assert entry.authors == (Name("Weir, Ann"),)
    assert (entry.keywords, entry.annote) == (("river",), "mine")


@pytest.mark.parametrize(
    "line",
    [
        "Issued: unclear",
        "Issued: perhaps 1999 or so",
        "Accessed: from home",
        "Original Date: long ago",
        "Author: see page 3",
        "Author: unknown to me",
        "Editor: 2nd shelf",
        "Type: hardcover",
        "DOI: none",
        "ISBN: on the back",
        "PMID: ask Ann",
        "URL: on my desk",
        "Citation Key: two words",
        "Publisher: Other",
    ],
)
def test_a_line_of_extra_that_does_not_say_what_its_variable_is_stays_in_the_note(line: str) -> None:
    item = {"itemType": "book", "title": "Otters", "date": "2001", "publisher": "Weir Press", "citationKey": ""}
    (entry,) = read({**item, "extra": line})
    (without,) = read(item)

    assert entry == replace(without, note=line)


def test_notes_in_extra_are_kept() -> None:
    item = {"itemType": "book", "title": "Otters", "extra": "Note: lend to Ann\nAnnote: mine\nCitation Key: a\nblue"}
    (entry,) = read({**item, "citationKey": "b", "notes": [{"note": "<p>read</p>"}]})

    assert (entry.key, entry.annote, entry.note) == ("b", "read", "lend to Ann Annote: mine Citation Key: a blue")
    assert read(item)[0].annote == "mine"


@pytest.mark.parametrize("name", ["Otter Survey", "Ministry of Weirs", "水獺学会", "iNaturalist", "3M", "see page 3"])
def test_makers_without_a_word_for_them_come_back(name: str) -> None:
    entry = normalize(BibliographyEntry(title="Otters", kind="book", roles=(("host", (Name(name),)),)))

    assert read(*written(entry)) == [entry]


@given(
    name=st.sampled_from(("Note", "Annote", "Genre", "Author", "Issued", "type", "Citation Key", "DOI", "My Word")),
    value=st.sampled_from(("blues of 1999", "2001", "dataset", "Weir || Ann", "Weir", "10.1234/x", "Note: x")),
    before=st.sampled_from(("", "plain words ", "\n")),
)
@settings(deadline=None)
def test_a_note_that_looks_like_a_variable_comes_back_as_a_note(name: str, value: str, before: str) -> None:
    entry = normalize(BibliographyEntry(title="Otters", kind="book", issued=(1990,), note=f"{before}{name}: {value}"))

    assert entry.note
    assert read(*written(entry)) == [entry]


def test_a_date_of_an_item_in_its_envelope_that_is_none_is_told() -> None:
    item = {"key": "ABCD2345", "data": {"itemType": "book", "title": "Otters", "date": "unclear"}}

    assert parse_bibliography(json.dumps([item]), "zotero-json").untaken == (("date 'unclear'",),)
