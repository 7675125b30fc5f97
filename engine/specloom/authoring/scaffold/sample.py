"""What a sample of an API's answer is made of: where its results are, and how other results are put in their place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from specloom.core import dataclass
from specloom.model import Argument

from .leaves import DEPTH, ITEMS, Leaf, PathValue, find_leaves, to_jmespath, walk
from .likeness import SURE, likeness, match
from .table import NO_VALUES, CellTable, parse_table


@dataclass(slots=True)
class Sample:
    """An answer of an API taken apart."""

    decoder: str
    document: Any
    each: str
    """The selector of the results; empty when the whole answer is one."""
    results: list[Any] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)
    namespaces: dict[str, str] = field(default_factory=dict)
    rebuild: Callable[[Sequence[Any]], Any] = list
    """The document with other results, and without what else is in it."""
    doubt: str = ""
    """What else could be the results."""
    table: CellTable | None = None
    """The lines of cells that the sample is, if it is no document."""


def parse_sample(data: bytes, fields: Mapping[str, Argument]) -> Sample:
    """The sample with its list of results and their leaves; a ValueError says why it cannot be read."""
    text = data.decode("utf-8-sig", "replace").strip()
    if text.startswith("<"):
        return _parse_xml(text)
    try:
        document = json.loads(text)
    except ValueError as error:
        if text[:1] in {"{", "[", ""}:
            raise ValueError(f"the sample is neither JSON nor XML: {error}") from None
        return _parse_cells(data)
    return _parse_json(document, fields)


# --- Tables ---------------------------------------------------------------------------------------------------------


def _parse_cells(data: bytes) -> Sample:
    try:
        table = parse_table(data)
    except ValueError as error:
        raise ValueError(f"the sample is neither JSON nor XML, and no table: {error}") from None
    leaves = []
    for leaf in find_leaves(table.rows, walk):
        values = tuple(value for value in leaf.values if value.lower() not in NO_VALUES)
        unknown = tuple(dict.fromkeys(value for value in leaf.values if value.lower() in NO_VALUES))
        if values:
            leaves.append(replace(leaf, values=values, is_cell=True, no_values=unknown))
    return Sample(table.decoder, table.rows, "", list(table.rows), leaves, table=table)


# --- JSON -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Candidate:
    """What could be the results of a document: their selector, themselves, and how they are put back."""

    each: str
    items: list[Any]
    rebuild: Callable[[Sequence[Any]], Any]
    depth: int


def _parse_json(document: Any, fields: Mapping[str, Argument]) -> Sample:
    def score(candidate: _Candidate) -> float:
        found = match(fields, find_leaves(candidate.items, walk))
        inner = [name for name, leaf in found.items() if leaf and ITEMS in leaf.path and fields[name].kind != "list"]
        scores = [likeness(fields[name], leaf) for name, leaf in found.items() if leaf and name not in inner]
        matched = sum(one if one >= SURE else one / 3 for one in scores)
        # Lists below lists are mostly what results are made of, so they have to be more like results.
        below = 0.5 * (f"{ITEMS}." in candidate.each)
        return matched + min(len(candidate.items), 9) / 20 - candidate.depth / 20 - below

    scored = sorted(((score(one), one) for one in _candidates(document)), key=lambda pair: pair[0], reverse=True)
    # An answer that is one result has more of its fields than the lists in it.
    whole = score(_Candidate("", [document], lambda results: results[-1], 0)) if isinstance(document, dict) else 0.0
    if not scored or whole >= scored[0][0] + 0.5:
        leaves = find_leaves([document], walk)
        return Sample("json", document, "", [document], leaves, rebuild=lambda results: results[-1])
    most, best = scored[0]
    rivals = [one.each for value, one in scored[1:] if value >= max(0.9 * most, 1.0)]
    leaves = find_leaves(best.items, walk)
    return Sample("json", document, best.each, best.items, leaves, rebuild=best.rebuild, doubt=" or ".join(rivals[:2]))


def _candidates(
    value: Any, path: str = "", depth: int = 0, wrap: Callable[[Any], Any] = lambda inner: inner
) -> Iterator[_Candidate]:
    """Everything in a document that could be its results."""
    if isinstance(value, list) and value:
        yield from _listed_candidates(value, path, depth, wrap)
    if not isinstance(value, dict):
        return
    if _is_keyed(value):
        yield _keyed(value, path, depth, wrap)
    yield from _headed(value, path, depth, wrap)
    columns = [one for one in value.values() if isinstance(one, list) and len(one) > 1 and not _has_objects(one)]
    if len(columns) > 1 and len({len(one) for one in columns}) == 1:
        names = [name for name, one in value.items() if isinstance(one, list)]
        rows = [dict(zip(names, cells, strict=True)) for cells in zip(*(value[name] for name in names), strict=True)]

        def put(results: Sequence[Any]) -> Any:
            return wrap({name: [result.get(name) for result in results] for name in names})

        yield _Candidate(f"records({path or '@'})", rows, put, depth + 1)
    for name, inner in value.items() if depth < DEPTH else ():
        at = to_jmespath((name,))
        yield from _candidates(inner, f"{path}.{at}" if path else at, depth + 1, _within(wrap, name))


def _headed(value: Mapping[str, Any], path: str, depth: int, wrap: Callable[[Any], Any]) -> Iterator[_Candidate]:
    """Rows of cells beside a list with the names of their columns, or with an object for each that has its name."""
    lists = {name: one for name, one in value.items() if isinstance(one, list) and one}
    for rows_name, rows in lists.items():
        if not all(isinstance(row, list) and row and len(row) == len(rows[0]) for row in rows):
            continue
        for names_name, head in lists.items():
            if len(head) != len(rows[0]) or (key := _name_key(head)) is None:
                continue
            names = [one[key] for one in head] if key else head
            at = {
                name: f"{path}.{to_jmespath((name,))}" if path else to_jmespath((name,))
                for name in (names_name, rows_name)
            }
            each = f"table([[{at[names_name]}{f'[].{to_jmespath((key,))}' if key else ''}], {at[rows_name]}][])"

            def put(
                results: Sequence[Any],
                head: list[Any] = head,
                names: list[str] = names,
                keys: tuple[str, str] = (names_name, rows_name),
            ) -> Any:
                cells = [[result.get(name) for name in names] for result in results]
                return wrap({keys[0]: head, keys[1]: cells})

            yield _Candidate(each, [dict(zip(names, row, strict=True)) for row in rows], put, depth + 1)


def _name_key(head: Sequence[Any]) -> str | None:
    """By which key each of the columns says its name; "" where it is its name, None where it has none."""
    if all(isinstance(one, str) and one for one in head):
        return "" if len(set(head)) == len(head) else None
    if not _has_objects(head):
        return None
    for key in head[0]:
        names = [one.get(key) for one in head]
        if all(isinstance(name, str) and name for name in names) and len(set(names)) == len(names):
            return str(key)
    return None


def _within(wrap: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    return lambda inner: wrap({name: inner})


def _listed_candidates(value: list[Any], path: str, depth: int, wrap: Callable[[Any], Any]) -> Iterator[_Candidate]:
    if all(isinstance(one, dict) for one in value):
        yield _Candidate(path or ITEMS, value, lambda results: wrap(list(results)), depth)
        if depth < DEPTH:
            yield from _nested(value, f"{path}{ITEMS}", depth + 1, lambda inner: wrap([inner]))
    elif _is_table(value):
        rows = [dict(zip(value[0], row, strict=False)) for row in value[1:]]

        def put(results: Sequence[Any]) -> Any:
            return wrap([value[0], *([result.get(name) for name in value[0]] for result in results)])

        yield _Candidate(f"table({path or '@'})", rows, put, depth)
    elif depth < DEPTH:
        for at, inner in enumerate(value[:3]):
            if isinstance(inner, (list, dict)):

                def put_at(made: Any, at: int = at) -> Any:
                    return wrap([*({} for _ in range(at)), made])

                yield from _candidates(inner, f"{path}[{at}]", depth + 1, put_at)


def _nested(items: list[Any], path: str, depth: int, wrap: Callable[[Any], Any]) -> Iterator[_Candidate]:
    """Lists of objects in each of several objects, which are one list to a projection."""
    names = dict.fromkeys(name for item in items for name in item)
    for name in names:
        inner = [item[name] for item in items if item.get(name)]
        at = f"{path}.{to_jmespath((name,))}"
        if inner and all(isinstance(one, list) and _has_objects(one) for one in inner):
            rows = [row for one in inner for row in one if isinstance(row, dict)]
            inside = _within(wrap, name)

            def put(results: Sequence[Any], inside: Callable[[Any], Any] = inside) -> Any:
                return inside(list(results))

            yield _Candidate(f"{at}[]", rows, put, depth)
        elif inner and all(isinstance(one, dict) for one in inner) and depth < DEPTH:
            yield from _nested(inner, at, depth + 1, _within(wrap, name))


def _has_objects(value: Sequence[Any]) -> bool:
    return bool(value) and all(isinstance(one, dict) for one in value)


def _is_keyed(value: Mapping[str, Any]) -> bool:
    """Whether the names of an object are ids, and what they lead to are results that are alike."""
    if not value or not all(isinstance(one, dict) and len(one) > 1 for one in value.values()):
        return False
    if len(value) == 1:
        return any(sign.isdigit() for sign in next(iter(value)))
    names = [set(one) for one in value.values()]
    shared = len(set.intersection(*names)) / max(len(set.union(*names)), 1)
    return shared >= 0.5 or (all(any(sign.isdigit() for sign in name) for name in value) and shared > 0)


def _keyed(value: Mapping[str, Any], path: str, depth: int, wrap: Callable[[Any], Any]) -> _Candidate:
    """Results by their ids; with these where no result says its own."""
    if all(any(str(said) == name for said in one.values()) for name, one in value.items()):

        def put(results: Sequence[Any]) -> Any:
            names = [name for name, one in value.items() for result in results if one is result]
            return wrap({(names[at : at + 1] or [str(at)])[0]: result for at, result in enumerate(results)})

        return _Candidate(f"values({path or '@'})", list(value.values()), put, depth + 1)
    rows = [{"key": name, "value": one} for name, one in value.items()]

    def put_entries(results: Sequence[Any]) -> Any:
        keys = [f"{at}-{one.get('key')}" if at else str(one.get("key")) for at, one in enumerate(results)]
        return wrap(dict(zip(keys, (one.get("value") for one in results), strict=True)))

    return _Candidate(f"entries({path or '@'})", rows, put_entries, depth + 1)


def _is_table(value: list[Any]) -> bool:
    """Whether it is a list of lists of which the first has the names of the others' cells."""
    if len(value) < 2 or not all(isinstance(one, list) and one for one in value):
        return False
    head = value[0]
    return all(isinstance(name, str) and name for name in head) and all(len(one) <= len(head) for one in value)


# --- XML ------------------------------------------------------------------------------------------------------------


def _parse_xml(text: str) -> Sample:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        root = etree.fromstring(text.encode(), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise ValueError(f"the sample is not well-formed XML: {error}") from None
    prefixes: dict[str, str] = {}
    groups: dict[str, list[Any]] = {}
    for node in root.iter():
        if isinstance(node.tag, str):
            _name_of(node, prefixes)
            if node is not root and len(node):
                groups.setdefault(node.tag, []).append(node)
    results = max(groups.values(), key=lambda nodes: (len(nodes) > 1, sum(len(node) for node in nodes)), default=[root])
    found = find_leaves(results, lambda node: _walk_xml(node, (), prefixes))
    leaves = [replace(leaf, is_markup=True) for leaf in found]
    used = {prefix: uri for uri, prefix in prefixes.items() if prefix}
    return Sample("xml", root, f"//{_name_of(results[0], prefixes)}", results, leaves, used)


def _name_of(node: Any, prefixes: dict[str, str]) -> str:
    """The name of an element with the prefix of its namespace, which is made up where the document has none."""
    from lxml import etree

    name = etree.QName(node)
    if not name.namespace:
        return str(name.localname)
    if name.namespace not in prefixes:
        prefix = node.prefix if node.prefix and re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", node.prefix) else ""
        prefix = prefix or f"n{len(prefixes) + 1}"
        while prefix in prefixes.values():
            prefix += "x"
        prefixes[name.namespace] = prefix
    return f"{prefixes[name.namespace]}:{name.localname}"


def _walk_xml(node: Any, path: tuple[str, ...], prefixes: dict[str, str]) -> Iterator[PathValue]:
    for name, value in node.attrib.items():
        if not name.startswith("{") and value.strip() and path:
            yield (*path, f"@{name}"), value.strip()
    # An element with words of its own holds markup, not fields: its text is one value.
    has_words = any(part and part.strip() for part in (node.text, *(child.tail for child in node)))
    if has_words and path:
        yield path, " ".join("".join(node.itertext()).split())
    elif len(path) < DEPTH:
        for child in node:
            if isinstance(child.tag, str):
                relation = child.get("rel", "")
                which = f"[@rel='{relation}']" if relation and "'" not in relation else ""
                yield from _walk_xml(child, (*path, f"{_name_of(child, prefixes)}{which}"), prefixes)
