"""What a sample of an API's answer is made of: where its results are, and which leaf could be which row field."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from difflib import SequenceMatcher
from typing import Any

from specloom.core import dataclass, load_table, to_timestamp
from specloom.model import Argument

PathValue = tuple[tuple[str, ...], Any]
ITEMS = "[]"
"""In a path: what follows is in each item of a list."""
SURE, ENOUGH = 0.85, 0.5
"""How alike a field and a leaf are that are surely one, and from where on it is worth a question to the author."""
_DEPTH = 4
_LOOKED_AT = 10
"""Results that are looked at; a field that none of them has is not found."""

WORDS: Mapping[str, Any] = load_table(__file__, "words.yaml")
"""Words of fields that mean one thing, and names of parameters, by which a draft is guessed."""


def _listed(text: str) -> list[str]:
    return [one.replace("_", "") for one in text.split()]


_SAME = [(_listed(group["sure"]), _listed(group["perhaps"])) for group in WORDS["same"]]
_CONTAINERS, _OTHERS, _NAMED, _ADDRESSED = (
    frozenset(_listed(WORDS[one])) for one in ("containers", "others", "named", "addressed")
)


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value inside results: its path, what it holds, and whether every result has it."""

    path: tuple[str, ...]
    values: tuple[Any, ...]
    everywhere: bool
    mixed: bool = False
    """Some results have a list where others have one item."""
    parts: tuple[str, str] | None = None
    """The names of the first and the last part of a person's name, which make one text."""
    is_markup: bool = False
    """It is an element or an attribute, of which there may be several without a list around them."""

    @property
    def value(self) -> Any:
        """The first that was found."""
        return self.values[0]

    @property
    def several(self) -> bool:
        """Whether a result has more than one of it."""
        return any(isinstance(value, list) and len(value) > 1 for value in self.values)


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


def parse_sample(data: bytes, fields: Mapping[str, Argument]) -> Sample:
    """The sample with its list of results and their leaves; a ValueError says why it cannot be read."""
    text = data.decode("utf-8-sig", "replace").strip()
    if text.startswith("<"):
        return _parse_xml(text)
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ValueError(f"the sample is neither JSON nor XML: {error}") from None
    return _parse_json(document, fields)


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
        found = match(fields, find_leaves(candidate.items, _walk))
        inner = [name for name, leaf in found.items() if leaf and ITEMS in leaf.path and fields[name].kind != "list"]
        scores = [likeness(fields[name], leaf) for name, leaf in found.items() if leaf and name not in inner]
        matched = sum(one if one >= SURE else one / 3 for one in scores)
        # Lists below lists are mostly what results are made of, so they have to be more like results.
        below = 0.5 * (f"{ITEMS}." in candidate.each)
        return matched + min(len(candidate.items), 9) / 20 - candidate.depth / 20 - below

    scored = sorted(((score(one), one) for one in _candidates(document)), key=lambda pair: pair[0], reverse=True)
    if not scored:
        leaves = find_leaves([document], _walk)
        return Sample("json", document, "", [document], leaves, rebuild=lambda results: results[-1])
    most, best = scored[0]
    rivals = [one.each for value, one in scored[1:] if value >= max(0.9 * most, 1.0)]
    leaves = find_leaves(best.items, _walk)
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
    columns = [one for one in value.values() if isinstance(one, list) and len(one) > 1 and not _has_objects(one)]
    if len(columns) > 1 and len({len(one) for one in columns}) == 1:
        names = [name for name, one in value.items() if isinstance(one, list)]
        rows = [dict(zip(names, cells, strict=True)) for cells in zip(*(value[name] for name in names), strict=True)]

        def put(results: Sequence[Any]) -> Any:
            return wrap({name: [result.get(name) for result in results] for name in names})

        yield _Candidate(f"records({path or '@'})", rows, put, depth + 1)
    for name, inner in value.items() if depth < _DEPTH else ():
        at = to_jmespath((name,))
        yield from _candidates(inner, f"{path}.{at}" if path else at, depth + 1, _within(wrap, name))


def _within(wrap: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    return lambda inner: wrap({name: inner})


def _listed_candidates(value: list[Any], path: str, depth: int, wrap: Callable[[Any], Any]) -> Iterator[_Candidate]:
    if all(isinstance(one, dict) for one in value):
        yield _Candidate(path or ITEMS, value, lambda results: wrap(list(results)), depth)
        if depth < _DEPTH:
            yield from _nested(value, f"{path}{ITEMS}", depth + 1, lambda inner: wrap([inner]))
    elif _is_table(value):
        rows = [dict(zip(value[0], row, strict=False)) for row in value[1:]]

        def put(results: Sequence[Any]) -> Any:
            return wrap([value[0], *([result.get(name) for name in value[0]] for result in results)])

        yield _Candidate(f"table({path or '@'})", rows, put, depth)
    elif depth < _DEPTH:
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
        elif inner and all(isinstance(one, dict) for one in inner) and depth < _DEPTH:
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


def find_leaves(items: Sequence[Any], walk: Callable[[Any], Iterable[PathValue]]) -> list[Leaf]:
    """The values inside results, in the order of the first result that has them; of a path that repeats the first."""
    values: dict[tuple[str, ...], list[Any]] = {}
    looked_at = items[:_LOOKED_AT]
    for item in looked_at:
        first: dict[tuple[str, ...], Any] = {}
        for path, value in walk(item):
            first.setdefault(path, value)
        for path, value in first.items():
            values.setdefault(path, []).append(value)
    mixed = {path for path in values if ITEMS in path and _without_items(path) in values}
    for path in mixed:  # what is alone in some results is a list of one
        values[path] += [[value] for value in values.pop(_without_items(path))]
    leaves = [
        Leaf(path, tuple(several), len(several) == len(looked_at), path in mixed or _is_mixed(several))
        for path, several in values.items()
    ]
    return [*leaves, *_full_names(leaves)]


def _without_items(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in path if name != ITEMS)


def _is_mixed(values: Sequence[Any]) -> bool:
    return len({isinstance(value, list) for value in values}) > 1


_GIVEN = ("given", "given_name", "givenname", "first_name", "firstname", "forename", "first")
_FAMILY = ("family", "family_name", "familyname", "last_name", "lastname", "surname", "last")


def _full_names(leaves: Sequence[Leaf]) -> Iterator[Leaf]:
    """A leaf of whole names for each list of people whose names come in two parts."""
    by_place: dict[tuple[str, ...], dict[str, Leaf]] = {}
    for leaf in leaves:
        if len(leaf.path) > 1 and leaf.path[-2] == ITEMS:
            by_place.setdefault(leaf.path[:-1], {})[leaf.path[-1]] = leaf
    for place, named in by_place.items():
        given = next((name for name in named if name.lower() in _GIVEN), None)
        family = next((name for name in named if name.lower() in _FAMILY), None)
        if given and family and not any(name.lower() in _NAMED for name in named):
            whole = named[family]
            yield Leaf((*place, "name"), whole.values, whole.everywhere, whole.mixed, (given, family))


def _walk(value: Any, path: tuple[str, ...] = ()) -> Iterator[PathValue]:
    if isinstance(value, dict):
        for name, inner in value.items() if len(path) < _DEPTH else ():
            yield from _walk(inner, (*path, name))
    elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        inner_values: dict[tuple[str, ...], list[Any]] = {}
        for one in value:
            for inner_path, inner in _walk(one):
                if len(inner_path) <= 2 and ITEMS not in inner_path and not isinstance(inner, list):
                    inner_values.setdefault(inner_path, []).append(inner)
        for inner_path, several in inner_values.items() if path else ():
            yield (*path, ITEMS, *inner_path), several
    elif value not in (None, "", []) and path:
        yield path, value


def to_jmespath(path: Sequence[str]) -> str:
    """Names as a JMESPath, quoted where they are no identifiers."""
    plain = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
    return ".".join(name if plain.fullmatch(name) else json.dumps(name) for name in path)


def to_selector(leaf: Leaf, kind: str, *, family_first: bool = False) -> str:
    """What selects a leaf of JSON for a field of this kind: of a list all of it for a list, else the first."""
    if ITEMS not in leaf.path:
        plain = to_jmespath(leaf.path)
        many = f"to_array({plain})[?@]" if leaf.mixed else plain
        if kind == "list":
            return many
        return f"{many} | [0]" if leaf.mixed else f"{plain}[0]" if isinstance(leaf.value, list) else plain
    at = leaf.path.index(ITEMS)
    before, after = to_jmespath(leaf.path[:at]), to_jmespath(leaf.path[at + 1 :])
    if leaf.parts:
        first, last = (to_jmespath((name,)) for name in leaf.parts)
        after = f"join(', ', [{last}, {first}][?@])" if family_first else f"join(' ', [{first}, {last}][?@])"
    many = f"to_array({before})[?@]" if leaf.mixed else before
    if kind == "list":
        return f"{many}[].{after}"
    return f"{many} | [0].{after}" if leaf.mixed else f"{many}[0].{after}"


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
        prefix = node.prefix if node.prefix and re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", node.prefix) else ""
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
    elif len(path) < _DEPTH:
        for child in node:
            if isinstance(child.tag, str):
                relation = child.get("rel", "")
                which = f"[@rel='{relation}']" if relation and "'" not in relation else ""
                yield from _walk_xml(child, (*path, f"{_name_of(child, prefixes)}{which}"), prefixes)


# --- what could be what ---------------------------------------------------------------------------------------------


def match(fields: Mapping[str, Argument], leaves: Sequence[Leaf]) -> dict[str, Leaf | None]:
    """For each row field the leaf that is most like it, each leaf once; None where nothing is enough like it."""
    scored = (
        (likeness(field, leaf), -at, name, leaf) for name, field in fields.items() for at, leaf in enumerate(leaves)
    )
    matched: dict[str, Leaf | None] = dict.fromkeys(fields)
    for score, _, name, leaf in sorted(scored, key=lambda entry: entry[:2], reverse=True):
        if score >= ENOUGH and matched[name] is None and leaf not in matched.values():
            matched[name] = leaf
    return matched


def candidates(field: Argument, leaves: Sequence[Leaf]) -> list[Leaf]:
    """The leaves that a field could be, the most likely first."""
    scored = [(likeness(field, leaf), leaf) for leaf in leaves]
    return [leaf for score, leaf in sorted(scored, key=lambda pair: -pair[0]) if score >= ENOUGH]


def likeness(field: Argument, leaf: Leaf) -> float:
    """0 when the value cannot be it; from `SURE` on it is it, from `ENOUGH` on it may be."""
    relative = field.kind == "url" and isinstance(leaf.value, str) and re.match(r"/[^/\s]\S*$", leaf.value) is not None
    year = field.name.endswith("year") and field.kind == "integer" and _has_year(leaf.value)
    first = _first_of(field, leaf)
    is_own = field.kind == "text" and isinstance(first, str) and _joined(_bare(leaf.path[-1])) == _joined(field.name)
    if not (relative or year or is_own or fits(field.kind, first)) or (leaf.parts and field.kind != "list"):
        return 0.0
    score = max((_by_name(field, one) for one in _meanings(leaf.path, field)), default=0.0)
    score += 0.01 * leaf.everywhere - 0.01 * (len(leaf.path) - 1)
    if "[@rel=" in "".join(leaf.path) and "[@rel='alternate']" not in "".join(leaf.path):
        score -= 0.4
    if field.kind in {"timestamp", "date"} and isinstance(leaf.value, str) and not re.search(r"\d{4}", leaf.value):
        score -= 0.15  # a distance such as "3 days ago" is less than a date
    if field.kind == "url" and (relative or _is_of_api(str(first))):
        score = min(score, SURE - 0.2)
    return score


def _first_of(field: Argument, leaf: Leaf) -> Any:
    """The value as the field would have it: of a list the first item for what is no list."""
    value = leaf.value
    if field.kind == "list" and leaf.is_markup:
        return [value]
    if field.kind == "list":
        listed = next((one for one in leaf.values if isinstance(one, list)), None)
        return listed if listed is not None else [value] if leaf.path[-1:] and leaf.mixed else value
    return value[0] if isinstance(value, list) and value else value


def _has_year(value: Any) -> bool:
    return isinstance(value, str) and re.match(r"\d{4}-\d{2}(?:-\d{2})?(?!\d)", value) is not None


def _is_of_api(address: str) -> bool:
    """Whether an address is asked by programs, and not read by people."""
    return re.match(r"https?://(?:api\.|[^/?#]+/api/)", address.lower()) is not None


def _meanings(path: Sequence[str], field: Argument) -> Iterator[tuple[str, float]]:
    """The names that a leaf could go by, as joined words, each with how far it is to be trusted."""
    plain = [_bare(name) for name in path if name != ITEMS]
    if not plain:
        return
    *above, tail = plain
    outer = [name for name in above if _joined(name) not in _CONTAINERS and name != "_source"]
    if not outer:
        yield tail, 1.0
    generic = _NAMED if field.kind != "url" else _ADDRESSED
    if above and (_joined(tail) in generic or (field.kind == "list" and _joined(tail) in _NAMED)):
        yield above[-1], 1.0
    if not outer:
        return
    yield f"{outer[-1]}_{tail}", 1.0
    if not any(_is_other(name) for name in outer):
        yield tail, 0.95 if len(outer) == 1 else 0.9


def _is_other(name: str) -> bool:
    return bool({*words_of(name), _joined(name)} & _OTHERS)


def _bare(name: str) -> str:
    """A name without its namespace, its `@` and what is in brackets."""
    return re.sub(r"\[.*", "", name.partition(":")[2] or name).lstrip("@")


def _joined(name: str) -> str:
    return "".join(_in_order(name))


def _by_name(field: Argument, meaning: tuple[str, float]) -> float:
    name, trust = meaning
    ours, theirs = _joined(field.name), _joined(name)
    if not theirs:
        return 0.0
    if ours == theirs:
        return trust
    best = 0.0
    for sure, perhaps in _SAME:
        if ours in sure and theirs in sure:
            best = max(best, 0.98 - 0.005 * sure.index(theirs))
        elif ours in sure and theirs in perhaps:
            best = max(best, 0.75 - 0.01 * perhaps.index(theirs))
    *before, head = _in_order(name)
    if (
        best == 0.0
        and before
        and not _OTHERS.intersection(before)
        and any(ours in sure and head in sure for sure, _ in _SAME)
    ):
        best = 0.65  # its last word says what it is, and the others of what
    if best == 0.0 and SequenceMatcher(None, ours, theirs).ratio() >= 0.85:
        best = 0.7
    return best * trust


def _in_order(name: str) -> list[str]:
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name.replace("@", ""))
    return [word.lower() for word in re.split(r"[^A-Za-z]+", parted) if word]


def words_of(name: str) -> set[str]:
    """`publishedAt`, `published_at` and `@published-at` are the same two words."""
    return set(_in_order(name))


def fits(kind: str, value: Any) -> bool:
    """Whether a value of a sample can become a value of this kind."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    text = value if isinstance(value, str) else ""
    match kind:
        case "any":
            return True
        case "url":
            return re.match(r"(?:https?:)?//\S+$", text) is not None
        case "timestamp" | "date":
            return is_epoch(value) or is_date(text)
        case "integer" | "number":
            return is_number or re.fullmatch(r"-?\d[\d,]*(?:\.\d+)?", text) is not None
        case "boolean":
            return isinstance(value, bool)
        case "list":
            return isinstance(value, list) and all(isinstance(item, str) for item in value)
        case "object":
            return False  # its fields would have to be chosen one by one
    # A whole number fits a text, as an id mostly is one.
    is_text = isinstance(value, str) and not re.match(r"https?://\S+$", value)
    return is_text or (is_number and isinstance(value, int))


def is_date(text: str) -> bool:
    """Whether the text is a date or a distance in time."""
    return (
        len(text) < 60
        and any(one.isdigit() for one in text)
        and not text.isdigit()
        and to_timestamp(text, 1e9) is not None
    )


def is_epoch(value: Any) -> bool:
    """Whether a number can be an instant between 1990 and 2100, in seconds or milliseconds."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and (631_152_000 <= value <= 4_102_444_800 or 631_152_000_000 <= value <= 4_102_444_800_000)
