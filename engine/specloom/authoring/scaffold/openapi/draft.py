"""The start of a provider from an operation of an OpenAPI or Swagger description: its request, key, paging and reply.

A description says what may be sent and what comes back, not what a caller asks and which fields matter: what it leaves
open is marked `decide`, as with a sample.
"""

from __future__ import annotations

import json
import re

from specloom.model import Capability, Model

from ..common import ScaffoldError, check_name, find_capability
from ..provider import check_base, write_provider
from ..request import DraftRequest, check_use
from .description import Description, DocumentNode, find_base, find_operation, load_description
from .request import read_body, read_parameters, read_security
from .schema import example_of, make_value, read_schema
from .swagger import translate_swagger


def draft_from_openapi(
    model: Model, name: str, capability: str | None, data: bytes, operation: str, base: str = ""
) -> str:
    """The text of a provider that asks one operation; a ScaffoldError says what is wrong in the description, where."""
    check_name("provider", name, model.providers)
    contract = find_capability(model, capability)
    check_base(base)
    document = load_description(data)
    if "swagger" not in document:
        request, reply, homepage = _read_operation(Description(document), name, contract, operation, base)
    else:
        translated = translate_swagger(document)
        try:
            description = Description(translated.document)
            request, reply, homepage = _read_operation(description, name, contract, operation, base)
        except ScaffoldError as error:
            raise ScaffoldError(translated.restore(str(error))) from None
    return write_provider(model, name, contract, reply, request, homepage)


def _read_operation(
    description: Description, name: str, contract: Capability, operation: str, base: str
) -> tuple[DraftRequest, bytes | None, str]:
    """The request of an operation, a reply to it, and the page of the API's documentation."""
    verb, path, item, asked = find_operation(description, operation)
    request = DraftRequest(base.rstrip("/"), path)
    if not base:
        request.base = find_base(description, [asked, item, DocumentNode(description.document, "")], request)
    host = re.match(r"https://[^/]+", request.base)
    assert host is not None
    request.base, request.path = host[0], f"{request.base[host.end() :]}{path}"
    read_parameters(description, name, contract, [item, asked], request)
    if verb == "post":
        read_body(description, name, contract, asked, request)
    read_security(description, name, asked, request)
    check_use(request, contract, is_given=True)
    order = list(contract.arguments)
    request.args = dict(sorted(request.args.items(), key=lambda pair: order.index(pair[0])))
    reply = find_reply(description, asked, request)
    page = description.get(DocumentNode(description.document, ""), "externalDocs", dict)
    homepage = str(page.value.get("url", "")) if page else ""
    return request, reply, homepage if homepage.startswith(("http://", "https://")) else ""


def find_reply(description: Description, asked: DocumentNode, request: DraftRequest) -> bytes | None:
    """A reply as the description has it, or one that its schema allows; None where it says nothing."""
    responses = description.get(asked, "responses", dict)
    for status in responses.value if responses else ():
        if not re.fullmatch(r"2(?:\d\d|XX)|default", str(status)):
            continue
        assert responses is not None
        response = description.follow(responses.value[status], f"{responses.pointer}/{status}")
        content = description.get(response, "content", dict)
        for media in content.value if content else ():
            if not re.search(r"[/+]json\b", media):
                continue
            assert content is not None
            typed = description.get(content, media, dict)
            schema = read_schema(description, typed, "schema") if typed else None
            if typed is None:
                continue
            example = example_of(description, typed, DocumentNode({}, typed.pointer))
            if isinstance(example, str):
                try:
                    example = json.loads(example)
                except ValueError:
                    example = None
            if not isinstance(example, (dict, list)) and schema is not None:
                example = make_value(description, schema, "")
            if isinstance(example, (dict, list)):
                request.place_cursor(example)
                return json.dumps(example, default=str).encode()
    request.place_cursor(None)
    return None
