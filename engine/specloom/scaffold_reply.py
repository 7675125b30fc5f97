"""The reply of a new spec's example: a sample cut down to one result, as the engine will be given it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .sample import Sample
from .wire import Request, Response

_LONGEST_TEXT = 160


def only(value: Any, results: Sequence[Any], instead: Sequence[Any]) -> Any:
    """The sample with other results, without what else is in it, and with long texts cut where that is harmless."""
    if value is results:
        return [_shortened(one) for one in instead]
    if isinstance(value, dict):
        kept = {name: only(inner, results, instead) for name, inner in value.items() if _holds(inner, results)}
        return kept or _shortened(value)
    return _shortened(value)


def _holds(value: Any, results: Sequence[Any]) -> bool:
    if value is results:
        return True
    return isinstance(value, dict) and any(_holds(inner, results) for inner in value.values())


def reached(value: Any, path: Sequence[str]) -> bool:
    """Whether names lead to something in a result."""
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]
    return value not in (None, "", [])


def without(value: Any, path: Sequence[str]) -> Any:
    """A result without what names lead to."""
    if not isinstance(value, dict):
        return value
    if len(path) == 1:
        return {name: inner for name, inner in value.items() if name != path[0]}
    return {name: without(inner, path[1:]) if name == path[0] else inner for name, inner in value.items()}


def to_response(reply: Mapping[str, Any], request: Request) -> Response:
    """A reply of an example as the response to a request."""
    if "json" in reply:
        return Response(200, {"content-type": "application/json"}, json.dumps(reply["json"]).encode(), request.url)
    return Response(200, {}, str(reply["text"]).encode(), request.url)


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _shortened(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_shortened(one) for one in value[:3]]
    if isinstance(value, str) and len(value) > _LONGEST_TEXT and " " in value:
        return value[:_LONGEST_TEXT].rsplit(" ", 1)[0]
    return value


def only_first_xml(sample: Sample) -> str:
    """The document of an XML sample with its first result alone."""
    from copy import deepcopy

    from lxml import etree

    root = deepcopy(sample.document)
    first = sample.results[0]
    same = [node for node in root.iter(first.tag) if node is not root]
    for node in same[1:]:
        parent = node.getparent()
        if parent is not None:
            parent.remove(node)
    text: str = etree.tostring(root, encoding="unicode")
    return re.sub(r">\s+<", "><", text).strip()
