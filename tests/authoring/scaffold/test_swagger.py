"""A provider from a description of Swagger 2.0, which is read as one of OpenAPI 3 with its own places in errors."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
import yaml

from specloom.authoring.scaffold.common import ScaffoldError
from specloom.authoring.scaffold.openapi.swagger import translate_swagger
from specloom.model.model import Model
from tests.authoring.scaffold.test_openapi import CAPABILITY, draft, read
from tests.support.spec_library import weave_texts

SHELVES = """
swagger: "2.0"
info: {title: Shelves, version: "1"}
host: eu.shelves.example
basePath: /v2
schemes: [http, https]
consumes: [application/json]
produces: [application/json]
externalDocs: {url: "https://shelves.example/docs"}
security: [{key: []}]
paths:
  /books:
    parameters: [{$ref: "#/parameters/Lang"}]
    get:
      operationId: findBooks
      parameters:
        - {name: q, in: query, required: true, type: string, description: Words of the title.}
        - {name: per_page, in: query, type: integer, minimum: 1, maximum: 40, default: 20}
        - {name: sort_by, in: query, type: string, enum: [relevance, newest]}
        - {name: subjects, in: query, type: array, collectionFormat: pipes, items: {type: string}}
        - {name: format, in: query, required: true, type: string, enum: [json]}
        - {name: after, in: query, type: string}
      responses:
        "200":
          description: Books.
          schema: {$ref: "#/definitions/Found"}
  /books/{isbn}:
    get:
      operationId: getBook
      security: []
      parameters: [{name: isbn, in: path, required: true, type: string}]
      responses:
        "200":
          description: A book.
          examples: {application/json: {book: {title: Otters, authors: [{name: Ann Ash}]}}}
  /search:
    post:
      operationId: searchBooks
      parameters: [{$ref: "#/parameters/Search"}]
      responses: {default: {$ref: "#/responses/Books"}}
  /form:
    post:
      operationId: searchForm
      schemes: [http]
      consumes: [application/x-www-form-urlencoded]
      security: [{machine: [read]}]
      parameters:
        - {name: query, in: formData, required: true, type: string}
        - {name: limit, in: formData, type: integer, maximum: 50}
        - {name: hints, in: formData, type: string, description: Something more.}
      responses: {"200": {$ref: "#/responses/Books"}}
parameters:
  Lang: {name: lang, in: query, type: string, description: Of the answer.}
  Search:
    name: anything
    in: body
    required: true
    schema:
      type: object
      required: [query, kind]
      properties:
        query: {type: string}
        limit: {type: integer, maximum: 30}
        kind: {type: string, enum: [book]}
responses:
  Books:
    description: Books.
    schema: {$ref: "#/definitions/Found"}
securityDefinitions:
  key: {type: apiKey, in: header, name: X-Shelf-Key}
  name: {type: basic}
  person: {type: oauth2, flow: accessCode, authorizationUrl: "https://s.example/a", tokenUrl: "https://s.example/t"}
  machine: {type: oauth2, flow: application, tokenUrl: "https://s.example/t", scopes: {read: Read.}}
definitions:
  Found:
    type: object
    properties:
      total: {type: integer}
      next_cursor: {type: string, x-nullable: true}
      items: {type: array, items: {$ref: "#/definitions/Book"}}
  Book:
    allOf:
      - type: object
        properties: {title: {type: string}, html_url: {type: string, format: uri}}
      - properties:
          published_year: {type: integer, example: 1999}
          writers: {type: array, items: {type: object, properties: {name: {type: string}}}}
"""
GET, FORM = "paths /books get", "paths /form post"


@pytest.fixture(scope="module")
def model() -> Model:
    woven = weave_texts(CAPABILITY, base=False)
    assert not woven.report.errors, woven.sentences
    return woven.model


def change(path: str, value: Any) -> dict[str, Any]:
    """The description with something else at one place; without it where the value is an ellipsis."""
    document: dict[str, Any] = deepcopy(yaml.safe_load(SHELVES))
    *above, last = path.split(" ")
    at: Any = document
    for part in above:
        at = at[int(part) if isinstance(at, list) else part]
    if value is ...:
        del at[last]
    else:
        at[int(last) if isinstance(at, list) else last] = value
    return document


def step_of(spec: dict[str, Any]) -> dict[str, Any]:
    step: dict[str, Any] = spec["operations"]["books"]["steps"][0]
    return step


def test_parameters_lists_keys_the_server_and_the_reply_are_those_of_the_description(model: Model) -> None:
    text = draft(model, SHELVES, "findBooks")
    spec, marks = read(text, model)

    step = step_of(spec)
    assert spec["homepage"] == "https://shelves.example/docs"
    assert spec["service"]["base"] == "https://eu.shelves.example"
    assert step["get"] == "/v2/books"
    assert step["query"] == {
        "q": "=args.query",
        "per_page": "=clamp(args.num_results, `1`, `40`)",
        "sort_by": "=lookup('sort_by', args.sort_by)",
        "subjects": "=args.subjects && join('|', args.subjects)",
        "format": "json",
    }
    assert spec["service"]["headers"] == {"X-Shelf-Key": "=config.SHELVES_KEY"}
    assert step["json"]["each"] == "items"
    assert set(step["json"]["map"]) == {"title", "url", "authors", "year"}
    assert "# not sent: lang, string: Of the answer." in text
    assert "base" not in marks
    assert "cursor: {parameter: after, at: page.next_cursor}" in marks[""]


def test_an_example_of_a_response_is_the_reply(model: Model) -> None:
    spec, _ = read(draft(model, SHELVES, "getBook"), model)

    assert step_of(spec)["get"] == "/v2/books/{args.isbn}"
    assert "config" not in spec
    assert spec["examples"][0]["replies"]["main"]["json"]["book"]["title"] == "Otters"


def test_a_body_parameter_is_the_body_also_where_it_is_referred_to(model: Model) -> None:
    spec, _ = read(draft(model, SHELVES, "searchBooks"), model)

    body = {"query": "=args.query", "limit": "=clamp(args.num_results, `1`, `30`)", "kind": "book"}
    assert step_of(spec)["body"] == {"json": body}
    assert step_of(spec)["json"]["each"] == "items"


def test_form_data_are_a_form_and_schemes_of_an_operation_its_server(model: Model) -> None:
    text = draft(model, SHELVES, "searchForm")
    spec, marks = read(text, model)

    assert step_of(spec)["body"] == {"form": {"query": "=args.query", "limit": "=clamp(args.num_results, `1`, `50`)"}}
    assert "# not sent in the body: hints, string: Something more." in text
    assert spec["service"]["auth"]["client_credentials"]["url"] == "https://s.example/t"
    assert marks["base"] == "whether it answers by https; the description says http"


@pytest.mark.parametrize(
    ("collection", "sent"),
    [
        (None, "=args.subjects && join(',', args.subjects)"),
        ("csv", "=args.subjects && join(',', args.subjects)"),
        ("ssv", "=args.subjects && join(' ', args.subjects)"),
        ("tsv", "=args.subjects && join('\t', args.subjects)"),
        ("multi", "=args.subjects"),
    ],
)
def test_the_items_of_a_list_are_parted_as_its_format_says(model: Model, collection: str | None, sent: str) -> None:
    document = change(f"{GET} parameters 3 collectionFormat", collection or ...)

    spec, _ = read(draft(model, document, "findBooks"), model)

    assert step_of(spec)["query"]["subjects"] == sent


@pytest.mark.parametrize(
    ("scheme", "auth", "headers"),
    [
        ("name", {"basic": "config.SHELVES_KEY"}, None),
        ("key", None, {"X-Shelf-Key": "=config.SHELVES_KEY"}),
        ("person", None, None),
    ],
)
def test_ways_in_are_told_in_the_words_of_the_language(model: Model, scheme: str, auth: Any, headers: Any) -> None:
    spec, marks = read(draft(model, change("security", [{scheme: []}]), "findBooks"), model)

    assert (spec["service"].get("auth"), spec["service"].get("headers")) == (auth, headers)
    wants = "how it knows its callers: OAuth 2.0 there wants a person"
    assert marks.get("base") == (wants if scheme == "person" else None)


def test_any_media_type_is_taken_for_json(model: Model) -> None:
    spec, _ = read(draft(model, change("produces", ["*/*"]), "findBooks"), model)

    assert step_of(spec)["json"]["each"] == "items"


@pytest.mark.parametrize("version", [2.0, "2.0"])
def test_a_version_may_be_a_number(model: Model, version: object) -> None:
    assert draft(model, change("swagger", version), "findBooks") == draft(model, SHELVES, "findBooks")


def test_a_body_of_the_path_is_that_of_its_operations(model: Model) -> None:
    document = change("paths /search parameters", [{"$ref": "#/parameters/Search"}])
    del document["paths"]["/search"]["post"]["parameters"]

    assert draft(model, document, "searchBooks") == draft(model, SHELVES, "searchBooks")


@pytest.mark.parametrize(
    ("document", "operation", "says"),
    [
        ("swagger: '1.2'", "a", "the description is of Swagger 1.2; Swagger 2.0 and OpenAPI 3 are read"),
        ("swagger: '2.0'", "a", "/paths is not there; a description without paths has no operations"),
        ("swagger: '2.0'\npaths: []", "a", "/paths is []; an object belongs there"),
        (change("host", ...), "findBooks", "/host is not there, so the host is not known; say it with --base URL"),
        (change(f"{GET} parameters", {}), "findBooks", "/paths/~1books/get/parameters is {}; a list belongs there"),
        (change(f"{GET} parameters 1", 7), "findBooks", "/paths/~1books/get/parameters/1 is 7; an object belongs"),
        (change(f"{GET} parameters 1 in", None), "findBooks", "/paths/~1books/get/parameters/1 lacks `in`"),
        (
            change(f"{GET} responses 200 schema", {"$ref": "#/definitions/Nobody"}),
            "findBooks",
            "/paths/~1books/get/responses/200/schema refers to #/definitions/Nobody, which is not there",
        ),
        (
            change("responses Books schema", ["items"]),
            "searchBooks",
            '/responses/Books/schema is ["items"]; an object belongs there',
        ),
        (
            change("paths /search post parameters 0", {"$ref": "#/parameters/Nobody"}),
            "searchBooks",
            "/paths/~1search/post/parameters/0 refers to #/parameters/Nobody, which is not there",
        ),
        (
            change("parameters Search schema", "none"),
            "searchBooks",
            '/parameters/Search/schema is "none"; an object belongs there',
        ),
        (
            change("parameters Lang", {"$ref": "#/parameters/Lang"}),
            "findBooks",
            "/parameters/Lang refers to itself, by #/parameters/Lang",
        ),
        (
            change("definitions Found", {"$ref": "other.yaml#/Found"}),
            "findBooks",
            "/definitions/Found refers to another document, 'other.yaml#/Found'; bundle the description",
        ),
        (
            change("security", [{"other": []}]),
            "findBooks",
            "/security names 'other', and /securityDefinitions/other is not there",
        ),
        (change("securityDefinitions", []), "findBooks", "/securityDefinitions is []; an object belongs there"),
        (
            change(f"{FORM} parameters 2", {"name": "scan", "in": "formData", "type": "file"}),
            "searchForm",
            "/paths/~1form/post/parameters/2 has no JSON and no form; a provider sends one of these",
        ),
        (
            change("consumes", ["application/xml"]),
            "searchBooks",
            "/consumes has no JSON and no form; a provider sends one of these",
        ),
    ],
)
def test_a_broken_description_is_refused_with_the_place_in_the_original(
    model: Model, document: Any, operation: str, says: str
) -> None:
    with pytest.raises(ScaffoldError) as refused:
        draft(model, document, operation)

    assert str(refused.value).startswith(says)


def test_a_place_behind_a_parameter_of_the_body_keeps_its_number(model: Model) -> None:
    body = {"name": "anything", "in": "body", "schema": {}}
    broken = {"name": "kind", "type": "string"}

    with pytest.raises(ScaffoldError, match=r"^/paths/~1search/post/parameters/1 lacks `in`"):
        draft(model, change("paths /search post parameters", [body, broken]), "searchBooks")


def test_what_another_operation_has_broken_stands_in_nobodys_way(model: Model) -> None:
    document = change("paths /search post parameters 0", {"$ref": "#/parameters/Nobody"})

    assert draft(model, document, "findBooks") == draft(model, SHELVES, "findBooks")


def test_the_given_description_is_left_as_it_is() -> None:
    document = yaml.safe_load(SHELVES)
    before = deepcopy(document)

    translate_swagger(document)

    assert document == before
