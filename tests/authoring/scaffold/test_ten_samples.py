"""Samples in the shapes of public APIs: each is mapped as a person would map it, or asks exactly where that is open."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml

from specloom.authoring.examples.providers import check_provider
from specloom.authoring.scaffold.provider import draft_provider
from specloom.compiler import compile_provider
from specloom.core.diagnostics import Report
from specloom.model.model import Model
from specloom.specs.library import parse_spec
from specloom.specs.yaml import find_marks
from tests.support.spec_library import weave_texts

ROWS = {
    "articles": """
      title: {type: text, required: true, description: The headline.}
      url: {type: url, required: true, description: The page.}
      snippet: {type: text, description: A quotation.}
      published_at: {type: timestamp, description: When.}
      source: {type: text, description: The outlet.}
      authors: {type: list, description: Who.}
      display_link: {type: text, description: The host.}""",
    "papers": """
      title: {type: text, required: true, description: The title.}
      doi: {type: text, description: The DOI.}
      url: {type: url, description: The page.}
      authors: {type: list, description: Who wrote it.}
      year: {type: integer, description: The year.}
      abstract: {type: text, description: What it says.}
      citations: {type: integer, description: How often cited.}""",
    "places": """
      id: {type: text, description: The id.}
      name: {type: text, required: true, description: The name.}
      address: {type: text, description: The address.}
      lat: {type: number, description: Degrees.}
      lon: {type: number, description: Degrees.}
      categories: {type: list, description: Kinds.}
      rating: {type: number, description: The mean.}
      rating_count: {type: integer, description: How many.}""",
    "repositories": """
      full_name: {type: text, required: true, description: Owner and name.}
      url: {type: url, required: true, description: The page.}
      description: {type: text, description: A line.}
      stars: {type: integer, description: Marks.}
      owner: {type: text, description: Whose.}
      topics: {type: list, description: Tags.}""",
}


def capability(name: str, row: str) -> str:
    return f"""
    spec: capability/1
    name: {name}
    title: Things
    description: Things.
    routing: {{key: {name}, order: []}}
    arguments:
      query: {{type: text, description: What.}}
      num_results: {{type: integer, description: How many.}}
    row:{row}
"""


@dataclass(frozen=True)
class Case:
    """A sample, and what a person makes of it."""

    about: str
    offers: str
    sample: Any
    each: str
    mapped: dict[str, Any]
    base: str = "https://api.example.org/v1/find?q=otters&limit=5"
    body: Any = None
    asks: set[str] = field(default_factory=set)
    query: dict[str, Any] | None = None
    sent: dict[str, Any] | None = None


FEED = """<?xml version="1.0"?>
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>All news</title>
<link>https://news.example/</link>
<item><title>Otters &amp;amp; rivers</title><link>https://news.example/a/1</link><guid>https://news.example/?p=1</guid>
<description><![CDATA[<p>They <b>swim</b>.</p>]]></description><pubDate>Wed, 04 Mar 2026 05:06:07 GMT</pubDate>
<source url="https://outlet.example/">The Outlet</source><enclosure url="https://img.example/1.jpg" type="image/jpeg"/>
<dc:creator>Ann Ash</dc:creator><dc:creator>Bob Birch</dc:creator></item>
<item><title>Seals</title><link>https://news.example/a/2</link><guid>https://news.example/?p=2</guid>
<description>They dive.</description><pubDate>Thu, 05 Mar 2026 05:06:07 GMT</pubDate>
<source url="https://outlet.example/">The Outlet</source></item>
</channel></rss>"""

required = {"required": True}
CASES = [
    Case(
        "a newspaper: the page's own names, fields below, an address of the API beside",
        "articles",
        {
            "response": {
                "status": "ok",
                "total": 2,
                "results": [
                    {
                        "id": "world/1",
                        "sectionName": "World",
                        "webTitle": "Otters are back",
                        "webUrl": "https://paper.example/world/1",
                        "apiUrl": "https://api.paper.example/world/1",
                        "webPublicationDate": "2026-03-04T05:06:07Z",
                        "fields": {"trailText": "They <strong>swim</strong>.", "byline": "Ann Ash"},
                    }
                ],
            }
        },
        "response.results",
        {
            "title": {"at": "webTitle", **required},
            "url": {"at": "webUrl", **required},
            "snippet": {"at": "fields.trailText", "then": ["strip_tags"]},
            "published_at": {"at": "webPublicationDate", "then": ["timestamp"]},
        },
    ),
    Case(
        "an encyclopedia: pages keyed by their ids, which they also say, the canonical address beside the form",
        "articles",
        {
            "query": {
                "pages": {
                    "17": {
                        "pageid": 17,
                        "title": "Otter",
                        "extract": "A mammal.",
                        "editurl": "https://wiki.example/edit/17",
                        "canonicalurl": "https://wiki.example/Otter",
                    },
                    "18": {
                        "pageid": 18,
                        "title": "Seal",
                        "extract": "Another.",
                        "editurl": "https://wiki.example/edit/18",
                        "canonicalurl": "https://wiki.example/Seal",
                    },
                }
            }
        },
        "values(query.pages)",
        {
            "title": {"at": "title", **required},
            "url": {"at": "canonicalurl", **required},
            "snippet": "extract",
        },
        base="https://wiki.example/w/api.php?action=query&search=otter&prop=extracts",
        query={"action": "query", "search": "=args.query", "prop": "extracts"},
        asks={"snippet"},
    ),
    Case(
        "questions and answers: entities in a title, the owner's address and the licence are not the question's",
        "articles",
        {
            "items": [
                {
                    "owner": {"display_name": "Ann", "link": "https://qa.example/users/1"},
                    "content_license": "CC BY-SA 4.0",
                    "creation_date": 1772521200,
                    "link": "https://qa.example/q/1",
                    "title": "Why don&#39;t otters &lt;sleep&gt;?",
                    "tags": ["otters"],
                }
            ],
            "has_more": False,
        },
        "items",
        {
            "title": {"at": "title", **required, "then": ["unescape"]},
            "url": {"at": "link", **required},
            "published_at": {"at": "creation_date", "then": [{"epoch": "seconds"}]},
        },
    ),
    Case(
        "a feed: the item's own address, the outlet's name, several creators",
        "articles",
        FEED,
        "//item",
        {
            "title": {"at": "title", **required, "then": ["unescape"]},
            "url": {"at": "link", **required},
            "snippet": {"at": "description", "then": ["strip_tags"]},
            "published_at": {"at": "pubDate", "then": ["timestamp"]},
            "source": "source",
            "authors": {"at": "dc:creator", "all": True},
        },
    ),
    Case(
        "a registry of DOIs: titles in lists, names in parts, capitals",
        "papers",
        {
            "message": {
                "items": [
                    {
                        "DOI": "10.5555/otters",
                        "title": ["On otters"],
                        "author": [{"given": "Ann", "family": "Ash"}, {"given": "Bob", "family": "Birch"}],
                        "URL": "https://doi.example/10.5555/otters",
                        "is-referenced-by-count": 3,
                        "link": [{"URL": "https://files.example/a.pdf"}],
                    },
                    {"DOI": "10.5555/seals", "title": ["On seals"], "URL": "https://doi.example/10.5555/seals"},
                ]
            }
        },
        "message.items",
        {
            "title": {"at": "title[0]", **required},
            "doi": "DOI",
            "url": "URL",
            "authors": "author[].join(' ', [given, family][?@])",
            "citations": '"is-referenced-by-count"',
        },
        base="https://api.example.org/works?query.title=x&rows=5&mailto=me",
        query={"query.title": "x", "rows": "=args.num_results", "mailto": "me"},
        asks={"step"},
    ),
    Case(
        "an index of works: people below their part in it, the landing page below a location",
        "papers",
        {
            "meta": {"count": 1},
            "results": [
                {
                    "id": "https://index.example/W1",
                    "doi": "https://doi.org/10.5555/otters",
                    "display_name": "On otters",
                    "publication_year": 2024,
                    "cited_by_count": 7,
                    "authorships": [
                        {"author": {"display_name": "Ann Ash"}, "institutions": [{"display_name": "River Lab"}]}
                    ],
                    "primary_location": {
                        "landing_page_url": "https://journal.example/1",
                        "source": {"display_name": "Rivers"},
                    },
                }
            ],
        },
        "results",
        {
            "title": {"at": "display_name", **required},
            "doi": {"at": "doi", "then": [{"replace": ["https://doi.org/", ""]}]},
            "url": "primary_location.landing_page_url",
            "authors": "authorships[].author.display_name",
            "year": "publication_year",
            "citations": "cited_by_count",
        },
        base="https://api.example.org/works?search=otters&per-page=5",
        query={"search": "=args.query", "per-page": "=args.num_results"},
    ),
    Case(
        "stories below sections are one list",
        "articles",
        {
            "sections": [
                {"label": "Rivers", "stories": [{"headline": "Otters", "url": "https://n.example/1"}]},
                {
                    "label": "Seas",
                    "stories": [
                        {"headline": "Seals", "url": "https://n.example/2"},
                        {"headline": "Whales", "url": "https://n.example/3"},
                    ],
                },
            ]
        },
        "sections[].stories[]",
        {"title": {"at": "headline", **required}, "url": {"at": "url", **required}},
    ),
    Case(
        "places: coordinates two levels down, a longitude called lng",
        "places",
        {
            "results": [
                {
                    "place_id": "p1",
                    "name": "Otter Café",
                    "formatted_address": "1 River Road",
                    "geometry": {"location": {"lat": 1.5, "lng": 2.5}, "viewport": {"northeast": {"lat": 9, "lng": 9}}},
                    "types": ["cafe"],
                    "rating": 4.5,
                    "user_ratings_total": 12,
                }
            ],
            "status": "OK",
        },
        "results",
        {
            "id": "place_id",
            "name": {"at": "name", **required},
            "address": "formatted_address",
            "lat": "geometry.location.lat",
            "lon": "geometry.location.lng",
            "categories": "types",
            "rating": "rating",
            "rating_count": "user_ratings_total",
        },
        base="https://maps.example/api/place/json?query=cafe&key=abcdef123456",
        query={"query": "=args.query", "key": "=config.BETA_KEY"},
        asks={"categories"},
    ),
    Case(
        "repositories: the page before the address of the API, the owner's name and not the owner's page",
        "repositories",
        {
            "total_count": 1,
            "items": [
                {
                    "full_name": "ann/otters",
                    "url": "https://api.code.example/repos/ann/otters",
                    "html_url": "https://code.example/ann/otters",
                    "description": "Count them",
                    "stargazers_count": 5,
                    "owner": {"login": "ann", "html_url": "https://code.example/ann"},
                    "license": {"name": "MIT", "url": "https://api.code.example/licenses/mit"},
                    "topics": ["otters"],
                }
            ],
        },
        "items",
        {
            "full_name": {"at": "full_name", **required},
            "url": {"at": "html_url", **required},
            "description": "description",
            "stars": "stargazers_count",
            "owner": "owner.login",
            "topics": "topics",
        },
    ),
    Case(
        "an API in the form of JSON:API: brackets in parameters, one that is repeated, fields below attributes",
        "articles",
        {
            "data": [
                {
                    "id": "1",
                    "type": "posts",
                    "attributes": {"title": "Otters", "summary": "They swim.", "updated_at": "2026-03-04T05:06:07Z"},
                    "links": {"self": "/posts/1"},
                }
            ]
        },
        "data",
        {
            "title": {"at": "attributes.title", **required},
            "url": {"at": "id", **required, "then": ["text", {"prefix": "https://api.example.org/"}]},
            "snippet": "attributes.summary",
            "published_at": {"at": "attributes.updated_at", "then": ["timestamp"]},
        },
        base="https://api.example.org/posts?filter%5Bquery%5D=x&page%5Bsize%5D=5&include%5B%5D=a&include%5B%5D=b",
        query={"filter[query]": "=args.query", "page[size]": "=args.num_results", "include[]": ["a", "b"]},
        asks={"url", "published_at"},
    ),
    Case(
        "a search by POST: a body with the query inside, hits below their scores, an address without a host",
        "articles",
        {
            "hits": {
                "hits": [
                    {"_id": "1", "_score": 2.5, "_source": {"title": "Otters", "url": "/a/1", "created": "2026-03-04"}},
                    {"_id": "2", "_score": 1.5, "_source": {"title": "Seals", "url": "/a/2", "created": "2026-03-05"}},
                ]
            }
        },
        "hits.hits",
        {
            "title": {"at": "_source.title", **required},
            "url": {"at": "_source.url", **required, "then": ["absolute"]},
            "published_at": {"at": "_source.created", "then": ["timestamp"]},
        },
        base="https://search.example/articles/_search",
        body={"query": {"multi_match": {"query": "otters", "fields": ["title"]}}, "size": 5, "from": 0},
        sent={
            "json": {
                "query": {"multi_match": {"query": "=args.query", "fields": ["title"]}},
                "size": "=args.num_results",
                "from": 0,
            }
        },
        asks={"url"},
    ),
    Case(
        "an index where one author is an object and several are a list, rows keyed by ids that they do not say",
        "papers",
        {
            "records": {
                "A-1": {
                    "name": "On otters",
                    "authors": {"name": "Ann Ash"},
                    "published": "2024-03-04",
                    "abstract": "They &amp; we.",
                },
                "A-2": {
                    "name": "On seals",
                    "authors": [{"name": "Bob Birch"}, {"name": "Cy Cedar"}],
                    "published": "2025-03-04",
                    "abstract": "More.",
                },
            }
        },
        "entries(records)",
        {
            "title": {"at": "value.name", **required},
            "authors": "to_array(value.authors)[?@][].name",
            "year": {"at": "value.published", "then": ["year"]},
            "abstract": {"at": "value.abstract", "then": ["unescape"]},
        },
        asks={"year"},
    ),
    Case(
        "rows under a line of names, where the parameter of the query is called like nothing known",
        "places",
        [["name", "lat", "long", "ring"], ["Otter Rock", "1.5", "2.5", "7"], ["Seal Sand", "3.5", "4.5", "8"]],
        "table(@)",
        {
            "name": {"at": "name", **required},
            "lat": {"at": "lat", "then": ["number"]},
            "lon": {"at": "long", "then": ["number"]},
        },
        base="https://api.example.org/rocks?matching=otter&output=json",
        query={"matching": "otter", "output": "json"},
        asks={"step"},
    ),
]


@pytest.fixture(scope="module")
def model() -> Model:
    woven = weave_texts(*(capability(name, row) for name, row in ROWS.items()), base=False)
    assert not woven.report.errors, woven.sentences
    return woven.model


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.about.partition(":")[0])
def test_a_sample_is_mapped_as_a_person_would_or_asks_where_it_is_open(case: Case, model: Model) -> None:
    data = case.sample.encode() if isinstance(case.sample, str) else json.dumps(case.sample).encode()
    body = None if case.body is None else json.dumps(case.body).encode()

    text = draft_provider(model, "beta", case.offers, data, case.base, body)

    report = Report()
    spec = parse_spec("beta.yaml", text.encode(), report)
    assert spec is not None
    lines = text.splitlines()
    marked = [lines[place.line - 1] for place, _ in find_marks(spec.source)]
    asked = {line.strip().partition(":")[0] if not line.strip().startswith("#") else "step" for line in marked}
    step = yaml.safe_load(text)["operations"][case.offers]["steps"][0]
    reading = step.get("json") or step["xml"]
    assert reading["map"] == case.mapped
    assert reading["each"] == case.each
    assert asked == case.asks
    if case.query is not None:
        assert step["query"] == case.query
    if case.sent is not None:
        assert step["body"] == case.sent
        assert step["post"]
    provider = compile_provider(spec, model.capabilities, report)
    assert provider is not None
    check_provider(spec, provider, report)
    assert list(report.errors) == []


def test_a_key_in_an_address_is_not_in_the_spec(model: Model) -> None:
    text = draft_provider(model, "beta", "places", b"[]", "https://maps.example/find?q=x&api_key=abcdef123456")

    spec = yaml.safe_load(text)

    assert "abcdef123456" not in text
    assert spec["config"]["BETA_KEY"]["secret"] is True
    assert spec["examples"][0]["config"] == {"BETA_KEY": "k"}


@pytest.mark.parametrize(
    ("address", "body"),
    [
        ("?q=x&token=hunter22hunter", b""),
        ("?q=x&accessToken=hunter22hunter", b""),
        ("?q=x&x-api-key=hunter22hunter", b""),
        ("?q=x&wskey=hunter22hunter", b""),
        ("?q=x&client_id=hunter22&client_secret=hunter22hunter", b""),
        ("?q=x&mailto=hunter22hunter@example.org", b""),
        ("", b'{"q": "x", "auth": {"password": "hunter22hunter", "token": "hunter22"}}'),
        ("", b"q=x&sig=hunter22hunter"),
    ],
)
def test_no_secret_of_an_address_or_a_body_is_written_into_the_file(model: Model, address: str, body: bytes) -> None:
    text = draft_provider(model, "beta", "places", b"[]", f"https://maps.example/find{address}", body or None)

    assert "hunter22" not in text
    assert "secret: true" in text


def test_a_cursor_is_no_secret(model: Model) -> None:
    text = draft_provider(model, "beta", "places", b"[]", "https://maps.example/find?q=x&page_token=abc123")

    assert "secret: true" not in text
