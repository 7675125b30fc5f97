"""A provider from an operation of an OpenAPI description: what it says is taken, what it leaves open is asked."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
import yaml

from specloom.authoring.examples.providers import check_provider
from specloom.authoring.scaffold.common import ScaffoldError
from specloom.authoring.scaffold.openapi.draft import draft_from_openapi
from specloom.compiler import compile_provider
from specloom.core.diagnostics import Report
from specloom.model.model import Model
from specloom.specs.library import parse_spec
from specloom.specs.yaml import find_marks
from tests.support.spec_library import weave_texts

CAPABILITY = """
    spec: capability/1
    name: books
    title: Books
    description: Books.
    routing: {key: books, order: []}
    arguments:
      query: {type: text, description: What.}
      num_results: {type: integer, description: How many.}
      sort_by: {type: text, enum: [relevance, date], description: What comes first.}
      subjects: {type: list, description: Subjects.}
      isbn: {type: text, description: The number.}
    row:
      title: {type: text, required: true, description: The title.}
      url: {type: url, description: The page.}
      authors: {type: list, description: Who.}
      year: {type: integer, description: When.}
"""
SHELVES = """
openapi: 3.0.3
info: {title: Shelves, version: "1"}
externalDocs: {url: "https://shelves.example/docs"}
servers:
  - url: https://{region}.shelves.example/v2
    variables: {region: {default: eu, enum: [eu, us]}}
security: [{key: []}]
paths:
  /books:
    parameters: [{$ref: "#/components/parameters/Lang"}]
    get:
      operationId: findBooks
      parameters:
        - {name: q, in: query, required: true, schema: {type: string}, description: Words of the title.}
        - {name: per_page, in: query, schema: {type: integer, minimum: 1, maximum: 40, default: 20}}
        - {name: sort_by, in: query, schema: {type: string, enum: [relevance, newest]}}
        - {name: subjects, in: query, style: pipeDelimited, explode: false, schema: {$ref: "#/components/schemas/Ns"}}
        - {name: format, in: query, required: true, schema: {type: string, enum: [json]}}
        - {name: edition, in: query, required: true, schema: {type: string, enum: [first, last]}}
        - {name: after, in: query, schema: {type: string}}
        - {name: old, in: query, deprecated: true, schema: {type: string}}
      responses:
        "200":
          description: Books.
          content: {application/json: {schema: {$ref: "#/components/schemas/Found"}}}
    put:
      operationId: putBook
      responses: {}
  /books/{isbn}:
    get:
      operationId: getBook
      security: []
      parameters: [{name: isbn, in: path, required: true, schema: {type: string}}]
      responses:
        "200":
          description: A book.
          content: {application/json: {example: {book: {title: Otters, authors: [{name: Ann Ash}]}}}}
  /search:
    post:
      operationId: searchBooks
      security: [{person: []}, {machine: [read]}]
      requestBody:
        content:
          application/json:
            schema:
              type: object
              required: [query, kind]
              properties:
                query: {type: string}
                limit: {type: integer}
                kind: {type: string, enum: [book]}
                hints: {type: string, description: Something more. And more.}
      responses:
        default:
          description: Books.
          content: {application/json: {schema: {$ref: "#/components/schemas/Found"}}}
components:
  parameters:
    Lang: {name: lang, in: query, schema: {type: string}, description: Of the answer.}
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Shelf-Key}
    person: {type: oauth2, flows: {authorizationCode: {authorizationUrl: "https://s.example/a", tokenUrl: "https://s.example/t"}}}
    machine: {type: http, scheme: bearer}
  schemas:
    Found:
      type: object
      properties:
        total: {type: integer}
        next_cursor: {type: string, nullable: true}
        items: {type: array, items: {$ref: "#/components/schemas/Book"}}
    Book:
      allOf:
        - $ref: "#/components/schemas/Thing"
        - type: object
          properties:
            published_year: {type: integer, example: 1999}
            writers: {type: array, items: {type: object, properties: {name: {type: string}}}}
            series: {$ref: "#/components/schemas/Book"}
    Ns: {type: array, items: {type: string}}
    Thing:
      type: object
      properties:
        title: {type: string}
        html_url: {type: string, format: uri}
"""


@pytest.fixture(scope="module")
def model() -> Model:
    woven = weave_texts(CAPABILITY, base=False)
    assert not woven.report.errors, woven.sentences
    return woven.model


def draft(model: Model, document: Any, operation: str, base: str = "") -> str:
    data = document if isinstance(document, str) else json.dumps(document)
    return draft_from_openapi(model, "shelves", "books", data.encode(), operation, base)


def read(text: str, model: Model) -> tuple[dict[str, Any], dict[str, str]]:
    """A drafted spec whose examples hold, and what it asks by the first word of the line."""
    report = Report()
    spec = parse_spec("shelves.yaml", text.encode(), report)
    assert spec is not None
    provider = compile_provider(spec, model.capabilities, report)
    assert provider is not None
    check_provider(spec, provider, report)
    assert list(report.errors) == []
    lines = text.splitlines()
    marked = [(lines[place.line - 1].split("#")[0].strip(), what) for place, what in find_marks(spec.source)]
    marks = {line.partition(":")[0]: what for line, what in marked}
    read_spec: dict[str, Any] = yaml.safe_load(text)
    return read_spec, marks


def change(path: str, value: Any) -> dict[str, Any]:
    """The description with something else at one place."""
    document: dict[str, Any] = deepcopy(yaml.safe_load(SHELVES))
    *above, last = path.split(" ")
    at: Any = document
    for part in above:
        at = at[int(part) if part.isdigit() and isinstance(at, list) else part]
    at[int(last) if last.isdigit() and isinstance(at, list) else last] = value
    return document


def test_parameters_bounds_words_and_keys_are_those_of_the_description(model: Model) -> None:
    spec, marks = read(draft(model, SHELVES, "findBooks"), model)

    step = spec["operations"]["books"]["steps"][0]
    assert spec["homepage"] == "https://shelves.example/docs"
    assert spec["service"]["base"] == "https://eu.shelves.example"
    assert step["get"] == "/v2/books"
    assert step["query"] == {
        "q": "=args.query",
        "per_page": "=clamp(args.num_results, `1`, `40`)",
        "sort_by": "=lookup('sort_by', args.sort_by)",
        "subjects": "=args.subjects && join('|', args.subjects)",
        "format": "json",
        "edition": "first",
    }
    assert spec["service"]["headers"] == {"X-Shelf-Key": "=config.SHELVES_KEY"}
    assert spec["config"]["SHELVES_KEY"]["secret"] is True
    assert spec["tables"] == {"sort_by": {"relevance": "relevance", "date": "relevance"}}
    assert step["json"] == {
        "each": "items",
        "map": {
            "title": {"at": "title", "required": True},
            "url": "html_url",
            "authors": "writers[].name",
            "year": "published_year",
        },
    }
    assert marks == {
        "base": "which server; eu stands for {region}, and so may us",
        "sort_by": "the words of the table sort_by; the API takes relevance, newest",
        "edition": "a value of it, one of first, last; the API needs one",
        "authors": marks["authors"],
        "": "whether further pages are read; if so: `paging: {cursor: {parameter: after, at: page.next_cursor}, "
        "most: 3, enough: length(rows) >= args.num_results}`",
    }


def test_what_no_argument_is_for_is_listed_with_what_it_is(model: Model) -> None:
    text = draft(model, SHELVES, "findBooks")

    assert "# not sent: lang, string: Of the answer." in text
    assert "old" not in text


def test_a_hole_of_the_path_is_the_argument_of_its_name_and_an_open_operation_needs_no_key(model: Model) -> None:
    spec, marks = read(draft(model, SHELVES, "getBook"), model)

    step = spec["operations"]["books"]["steps"][0]
    assert step["get"] == "/v2/books/{args.isbn}"
    assert spec["operations"]["books"]["input"] == ["isbn"]
    assert "config" not in spec
    assert "/" not in marks


def test_a_post_sends_what_is_asked_and_what_is_needed_by_the_first_way_without_a_person(model: Model) -> None:
    spec, marks = read(draft(model, SHELVES, "POST /search"), model)

    step = spec["operations"]["books"]["steps"][0]
    assert step["body"] == {"json": {"query": "=args.query", "limit": "=args.num_results", "kind": "book"}}
    assert spec["service"]["auth"] == {"bearer": "config.SHELVES_KEY"}
    assert set(marks) == {"authors", "base"}
    assert "# not sent in the body: hints, string: Something more." in draft(model, SHELVES, "searchBooks")


SEARCH = "paths /search post requestBody content application/json schema properties"


def test_bounds_of_a_body_are_those_of_the_description_and_its_example_shows_them(model: Model) -> None:
    document = change(f"{SEARCH} limit", {"type": "integer", "maximum": 50})

    spec, _ = read(draft(model, document, "searchBooks"), model)

    body = spec["operations"]["books"]["steps"][0]["body"]["json"]
    assert body["limit"] == "=clamp(args.num_results, `1`, `50`)"
    (example, *_) = spec["examples"]
    assert (example["args"]["num_results"], example["expect"]["sent"]["main"]["json"]["limit"]) == (50, 50)


def test_words_of_a_body_are_asked_for_where_they_stand(model: Model) -> None:
    document = change(f"{SEARCH} sort_by", {"type": "string", "enum": ["relevance", "newest"]})

    spec, marks = read(draft(model, document, "searchBooks"), model)

    assert spec["operations"]["books"]["steps"][0]["body"]["json"]["sort_by"] == "=lookup('sort_by', args.sort_by)"
    assert "sort_by of the body: the words of the table sort_by; the API takes relevance, newest" in marks.values()


@pytest.mark.parametrize(
    ("key", "kind", "paging"),
    [
        ("start_cursor", "string", "{cursor: {at: page.next_cursor}, most: 3, resume: true}"),
        ("offset", "integer", "{offset: {from: 0}, most: 3, resume: true}"),
        ("page", "integer", "{page: {from: 1}, most: 3, resume: true}"),
    ],
)
def test_pages_of_a_post_are_proposed_with_their_place_in_the_body(
    model: Model, key: str, kind: str, paging: str
) -> None:
    text = draft(model, change(f"{SEARCH} {key}", {"type": kind}), "searchBooks")

    _, marks = read(text, model)

    asked = f"whether further pages are read; if so: `paging: {paging}`, and `{key}: =position` in the body"
    assert asked in marks.values()
    # What is proposed is a spec, once it stands there.
    written = text.replace(
        "        body:\n          json:",
        f"        paging: {paging}\n        body:\n          json:\n            {key}: =position",
    )
    report = Report()
    spec = parse_spec("shelves.yaml", written.encode(), report)
    assert spec is not None
    assert compile_provider(spec, model.capabilities, report) is not None
    assert list(report.errors) == []


def test_a_header_that_the_api_needs_is_asked_for(model: Model) -> None:
    version = {"name": "Shelf-Version", "in": "header", "required": True, "schema": {"type": "string"}}
    document = change("paths /search post parameters", [version])

    _, marks = read(draft(model, document, "searchBooks"), model)

    assert marks["Shelf-Version"] == "a value of it, string; the API needs one"


def test_what_a_mark_names_is_in_the_example(model: Model) -> None:
    inside = {f"f{number}": {"type": "string", "example": f"something of the kind {number}"} for number in range(9)}
    book = {"type": "object", "properties": {"inside": {"type": "object", "properties": inside}}}
    text = draft(model, change("components schemas Book", book), "findBooks")

    assert "it could be inside.f0 or inside.f1 or inside.f2" in text
    (example, *_) = yaml.safe_load(text)["examples"]
    (item,) = example["replies"]["main"]["json"]["items"]
    assert item["inside"]["f2"] == "something of the kind 2"


def test_a_description_of_3_1_as_json_has_types_in_lists_and_examples_in_lists(model: Model) -> None:
    document = change("openapi", "3.1.0")
    title = {"type": ["string", "null"], "examples": ["Otters"]}
    document["components"]["schemas"]["Thing"]["properties"]["title"] = title

    spec, _ = read(draft(model, document, "findBooks"), model)

    assert spec["examples"][0]["expect"]["rows"][0]["title"] == "Otters"


LIMIT = "paths /books get parameters 1 schema"


@pytest.mark.parametrize(
    ("schema", "bounds"),
    [
        ({"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 51}, "`2`, `50`"),
        ({"type": "integer", "maximum": 51, "exclusiveMaximum": True}, "`1`, `50`"),
        ({"type": ["integer", "null"], "maximum": 50}, "`1`, `50`"),
        ({"allOf": [{"$ref": "#/components/schemas/Count"}], "default": 5}, "`1`, `50`"),
        ({"anyOf": [{"$ref": "#/components/schemas/Count"}, {"type": "null"}]}, "`1`, `50`"),
        ({"$ref": "#/components/schemas/Count", "description": "How many."}, "`1`, `50`"),
        ({"$ref": "#/components/schemas/Count", "maximum": 40}, "`1`, `40`"),
        ({"$ref": "#count"}, "`1`, `50`"),
        ({"$ref": "#/components/schemas/of%20a~1b"}, "`1`, `50`"),
    ],
)
def test_bounds_are_those_of_all_that_a_schema_is_made_of(model: Model, schema: Any, bounds: str) -> None:
    document = change(LIMIT, schema)
    count = {"type": "integer", "minimum": 1, "maximum": 50, "$anchor": "count"}
    document["components"]["schemas"] |= {"Count": count, "of a/b": count}

    spec, _ = read(draft(model, document, "findBooks"), model)

    assert spec["operations"]["books"]["steps"][0]["query"]["per_page"] == f"=clamp(args.num_results, {bounds})"


def test_a_choice_between_constants_is_one_of_words(model: Model) -> None:
    choice = {"oneOf": [{"const": "first", "title": "The first."}, {"const": "last"}]}
    document = change("paths /books get parameters 5 schema", choice)

    assert draft(model, document, "findBooks") == draft(model, SHELVES, "findBooks")


def test_a_schema_that_is_true_says_nothing_of_its_values(model: Model) -> None:
    document = change("paths /books get parameters 6 schema", True)
    document["components"]["schemas"]["Thing"]["properties"]["rest"] = True
    document["components"]["schemas"]["Ns"]["items"] = True

    assert draft(model, document, "findBooks").replace("            rest: the rest\n", "") == draft(
        model, SHELVES, "findBooks"
    )


def test_a_property_may_be_called_ref(model: Model) -> None:
    properties = {"title": {"type": "string"}, "$ref": {"type": "string"}, "html_url": {"type": "string"}}
    document = change("components schemas Thing properties", properties)

    (example, *_) = yaml.safe_load(draft(model, document, "findBooks"))["examples"]

    assert example["replies"]["main"]["json"]["items"][0]["$ref"] == "the $ref"


def test_the_whole_path_may_be_a_reference_with_something_beside_it(model: Model) -> None:
    document = yaml.safe_load(SHELVES)
    item = document["paths"]["/books"]
    document["openapi"] = "3.1.0"
    document["components"]["pathItems"] = {"Books": item}
    document["paths"]["/books"] = {"$ref": "#/components/pathItems/Books", "summary": "Books"}

    assert draft(model, document, "findBooks") == draft(model, SHELVES, "findBooks")


def test_a_reply_that_branches_without_end_is_made_to_some_depth(model: Model) -> None:
    names = [f"Kind{at}" for at in range(12)]
    document = change("components schemas Book properties", {})
    references = {name.lower(): {"$ref": f"#/components/schemas/{name}"} for name in names}
    kind = {"type": "object", "properties": {"title": {"type": "string"}, **references}}
    document["components"]["schemas"] |= dict.fromkeys(names, kind) | {"Book": kind}

    spec, _ = read(draft(model, document, "findBooks"), model)

    assert spec["examples"][0]["expect"]["rows"][0]["title"] == "the title"


@pytest.mark.parametrize(
    ("variables", "mark"),
    [
        ({"region": {"default": "eu", "enum": ["eu"]}}, None),
        ({"region": {"default": 8443}}, "which server; 8443 stands for {region}"),
    ],
)
def test_what_stands_for_a_variable_of_the_server_is_asked_where_it_may_be_another(
    model: Model, variables: Any, mark: str | None
) -> None:
    _, marks = read(draft(model, change("servers 0 variables", variables), "findBooks"), model)

    assert marks.get("base") == mark


@pytest.mark.parametrize(
    ("scheme", "auth", "sent"),
    [
        ({"type": "http", "scheme": "basic"}, {"basic": "config.SHELVES_KEY"}, {"Authorization": "Basic azprZXk="}),
        ({"type": "apiKey", "in": "query", "name": "token"}, None, None),
        (
            {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://s.example/token", "scopes": {}}}},
            {
                "client_credentials": {
                    "url": "https://s.example/token",
                    "id": "config.SHELVES_ID",
                    "secret": "config.SHELVES_SECRET",
                }
            },
            None,
        ),
    ],
)
def test_a_key_travels_as_its_scheme_says(model: Model, scheme: Any, auth: Any, sent: Any) -> None:
    spec, _ = read(draft(model, change("components securitySchemes key", scheme), "findBooks"), model)

    request = spec["examples"][0]["expect"]["sent"]["main"]
    assert spec["service"].get("auth") == auth
    if auth is None:
        assert request["query"]["token"] == "k"
    elif sent is not None:
        assert request["headers"] == sent


def test_a_way_in_that_wants_a_person_is_asked_about(model: Model) -> None:
    person = {"type": "openIdConnect", "openIdConnectUrl": "https://s.example/.well-known"}

    _, marks = read(draft(model, change("components securitySchemes key", person), "findBooks"), model)

    assert marks["base"] == "how it knows its callers: openIdConnect wants a person or a certificate"


def test_every_form_of_json_and_yaml_makes_the_same_provider(model: Model) -> None:
    document = yaml.safe_load(SHELVES)
    written = json.dumps(document)
    forms = {
        "flow style": yaml.dump(document, default_flow_style=True, sort_keys=False).encode(),
        "JSON with comments": written.replace('{"openapi"', '# As it is served.\n{"openapi"', 1).encode(),
        "JSON with a comma behind the last": f"{written[:-1]},}}".encode(),
        "JSON with tabs": json.dumps(document, indent="\t").encode(),
        "JSON as YAML with a mark of the order of bytes": f"# One.\n{written}".encode("utf-8-sig"),
        "UTF-16": written.encode("utf-16"),
        "with directives": f"%YAML 1.2\n---\n{SHELVES}...\n".encode(),
    }

    drafts = {name: draft_from_openapi(model, "shelves", "books", data, "findBooks") for name, data in forms.items()}

    assert {name for name, text in drafts.items() if text != draft(model, SHELVES, "findBooks")} == set()


def test_yaml_is_read_as_its_version_1_2_with_anchors_and_merge_keys(model: Model) -> None:
    text = """
        openapi: 3.0
        servers: [{url: "https://shelves.example"}]
        x-ok: &ok {description: Books., headers: {}}
        x-word: &word !!str 12
        paths:
          /books:
            get:
              operationId: findBooks
              parameters:
                - {name: q, in: query, required: true, schema: {type: string}}
                - {name: on, in: query, required: true, schema: {type: string, enum: [off]}}
                - {name: *word, in: query, required: true, schema: {type: string, enum: [2026-01-02]}}
              responses:
                200:
                  <<: *ok
                  description: Found.
                  content: {application/json: {example: {items: [{title: Otters, html_url: "https://b.example/1"}]}}}
        """

    spec, _ = read(draft(model, text, "findBooks"), model)

    step = spec["operations"]["books"]["steps"][0]
    assert step["query"] == {"q": "=args.query", "on": "off", "12": "2026-01-02"}
    assert step["json"]["each"] == "items"


def test_bytes_that_are_no_text_are_refused(model: Model) -> None:
    with pytest.raises(ScaffoldError, match=r"^the description is no text: the byte at 3 is not utf-8$"):
        draft_from_openapi(model, "shelves", "books", b"a: \xff\xfe", "findBooks")


REFS = {"$ref": "#/components/parameters/Nobody"}


@pytest.mark.parametrize(
    ("document", "operation", "says"),
    [
        ("swagger: '1.2'", "a", "the description is of Swagger 1.2; Swagger 2.0 and OpenAPI 3 are read"),
        (
            "openapi: 4.0.0",
            "a",
            "the description says version '4.0.0'; OpenAPI 3.0, 3.1 and 3.2 are read, and Swagger 2.0",
        ),
        ("a: [", "a", "the description is neither JSON nor YAML (line 2): "),
        ("{", "a", "the description is neither JSON nor YAML (line 2): "),
        ("a: 1\n---\nb: 1", "a", "the description ends in line 2, where another document begins"),
        ("paths:\n  /a: &item\n    get: *item", "a", "/paths/~1a/get (line 3) is *item, which has this within it"),
        ("paths: {/a: *item}", "a", "/paths/~1a (line 1) is *item, which nothing above is called"),
        ("paths:\n  /a: !include a.yaml", "a", "/paths/~1a (line 2) has a tag, !include; write out what it stands for"),
        ("paths: {/a: !!set {x}}", "a", "/paths/~1a (line 1) has a tag, !!set; leave it out"),
        ("paths: {/a: {[b]: c}}", "a", "/paths/~1a (line 1) has a key that is no text"),
        ("paths: {/a: {<<: b}}", "a", "/paths/~1a/<< (line 1) takes over what is no object"),
        (
            f"a: {'[' * 300}{']' * 300}",
            "a",
            "/a/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0/0… (line 1) is more",
        ),
        ("- a", "a", "the description is no object; one of OpenAPI begins with `openapi: 3.1.0`"),
        ("info: {}", "a", "the description has no `openapi`; OpenAPI 3.0, 3.1 and 3.2 are read, and Swagger 2.0"),
        ("openapi: 3.1.0", "a", "/paths is not there; a description without paths has no operations"),
        ("openapi: 3.1.0\npaths: {}", "a", "/paths is empty; a description without paths has no operations"),
        ("openapi: 3.1.0\npaths: {x-a: {}}", "", "/paths is empty; a description without paths has no operations"),
        (SHELVES, "", "say which operation: --operation ID; there are findBooks, getBook, searchBooks"),
        (SHELVES, "findBook", "the description has no operation 'findBook'; did you mean \"findBooks\"?"),
        (SHELVES, "putBook", "/paths/~1books/put is PUT; a provider asks with GET or POST"),
        (
            change("paths /books get parameters 0", REFS),
            "findBooks",
            "/paths/~1books/get/parameters/0 refers to #/components/parameters/Nobody, which is not there",
        ),
        (
            change("components parameters Lang", {"$ref": "#/components/parameters/Lang"}),
            "findBooks",
            "/components/parameters/Lang refers to itself, by #/components/parameters/Lang",
        ),
        (
            change("components schemas Found", {"$ref": "other.yaml#/Found"}),
            "findBooks",
            "/components/schemas/Found refers to another document, 'other.yaml#/Found'; bundle the description",
        ),
        (
            change("paths /books get parameters", {}),
            "findBooks",
            "/paths/~1books/get/parameters is {}; a list belongs there",
        ),
        (change("paths /books get parameters 0 in", None), "findBooks", "/paths/~1books/get/parameters/0 lacks `in`"),
        (change("servers", []), "findBooks", "/servers is not there, so the host is not known; say it with --base URL"),
        (
            change("servers 0 url", "/v2"),
            "findBooks",
            "/servers/0/url is '/v2', without a host; say it with --base URL",
        ),
        (
            change("servers 0 url", "/"),
            "findBooks",
            "/servers/0/url is '/', without a host; say it with --base URL",
        ),
        (
            change("servers 0 variables", {}),
            "findBooks",
            "/servers/0/variables/region has no default, which fills {region}; say the address with --base URL",
        ),
        (
            change("security", [{"other": []}]),
            "findBooks",
            "/security names 'other', and /components/securitySchemes/other is not there",
        ),
    ],
)
def test_a_broken_description_is_refused_in_one_sentence_that_names_the_place(
    model: Model, document: Any, operation: str, says: str
) -> None:
    with pytest.raises(ScaffoldError) as refused:
        draft(model, document, operation)

    assert str(refused.value).startswith(says)
    assert "\n" not in str(refused.value)


def test_an_address_of_ones_own_stands_in_for_the_servers(model: Model) -> None:
    spec, _ = read(draft(model, change("servers", []), "findBooks", "https://own.example/api/"), model)

    assert spec["service"]["base"] == "https://own.example"
    assert spec["operations"]["books"]["steps"][0]["get"] == "/api/books"


@pytest.mark.parametrize("address", ["//own.example/v2", "HTTPS://own.example/v2"])
def test_a_server_may_leave_its_scheme_to_the_caller_or_shout_it(model: Model, address: str) -> None:
    spec, _ = read(draft(model, change("servers 0 url", address), "findBooks"), model)

    assert spec["service"]["base"] == "https://own.example"
    assert spec["operations"]["books"]["steps"][0]["get"] == "/v2/books"


def test_a_reply_without_a_schema_leaves_the_map_to_the_author(model: Model) -> None:
    text = draft(model, change("paths /books get responses", {"204": {"description": "None."}}), "findBooks")

    assert "each: results  # decide: where the list of results is" in text
