"""Every word of the spec language has its users: who looks for an example of one finds three in the shipped specs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from specloom.specs import (
    GRAMMARS,
    Either,
    Grammar,
    Items,
    Library,
    Listing,
    Map,
    Named,
    Node,
    RecordRule,
    Rule,
    RuleReference,
)
from tests.support.shipped import shipped_specs

Word = tuple[str, str]
"""The title of a record, and one of its keys."""


def words_in(node: Node, rule: Rule | None, grammar: Grammar) -> Iterator[Word]:
    """Each word of the grammar in a tree, as often as it stands there."""
    if isinstance(rule, RuleReference):
        rule = grammar.named[rule.name]
    if isinstance(rule, Either):
        chosen = rule.mapping if isinstance(node, Map) else rule.listing if isinstance(node, Listing) else rule.scalar
        yield from words_in(node, chosen, grammar)
    elif isinstance(rule, RecordRule) and isinstance(node, Map):
        for entry in node:
            yield rule.name, entry.key
            yield from words_in(entry.value, rule.keys[entry.key].rule, grammar)
    elif isinstance(rule, Named) and isinstance(node, Map):
        for entry in node:
            yield from words_in(entry.value, rule.value, grammar)
    elif isinstance(rule, Items) and isinstance(node, Listing):
        for item in node.items:
            yield from words_in(item, rule.item, grammar)


def known_words(rule: Rule | None, grammar: Grammar, seen: set[str]) -> Iterator[Word]:
    """Each word that the grammar of a kind has, once a record."""
    if isinstance(rule, RuleReference):
        if rule.name not in seen:
            seen.add(rule.name)
            yield from known_words(grammar.named[rule.name], grammar, seen)
    elif isinstance(rule, Either):
        for one in (rule.scalar, rule.listing, rule.mapping):
            yield from known_words(one, grammar, seen)
    elif isinstance(rule, RecordRule):
        for name, key in rule.keys.items():
            yield rule.name, name
            yield from known_words(key.rule, grammar, seen)
    elif isinstance(rule, Named):
        yield from known_words(rule.value, grammar, seen)
    elif isinstance(rule, Items):
        yield from known_words(rule.item, grammar, seen)


def count_words(library: Library) -> Counter[Word]:
    """How often each word is used; those that are not stand with 0."""
    counts: Counter[Word] = Counter()
    for kind, grammar in GRAMMARS.items():
        counts.update(dict.fromkeys(known_words(grammar.root, grammar, set()), 0))
        for spec in library.of(kind).values():
            counts.update(words_in(spec.root, grammar.root, grammar))
    return counts


SEARCH = {"`learned`", "`costs`", "`gather`", "`merge`", "`versions`", "`identity`", "`until`", "a key", "`near`"}
"""Records whose words are about searching."""
ALSO = {
    ("a provider", "index"),
    ("an operation", "until"),
    ("`limits`", "learned"),
    ("`paging`", "resume"),
    ("`paging`", "more"),
    ("`paging`", "deepest"),
}
FEW = {
    ("`merge`", "versions"): "papers and patents have versions, and nothing else that is merged",
    ("`versions`", "as"): "as `versions`",
    ("`versions`", "fields"): "as `versions`",
    ("`identity`", "version"): "as `versions`",
    ("`identity`", "lead"): "as `versions`",
    ("`gather`", "able_first"): "other searches that gather have filters that each index takes, or have them told",
    ("a key", "any"): "books alone have several numbers of which one is enough",
    ("a key", "near"): "a title alone is no key of anything but papers",
    ("`near`", "by"): "as `near`",
    ("`near`", "field"): "as `near`",
}
"""Words of search with one or two users, and why there is no third."""
UNUSED = {
    ("`client_credentials`", "scope"): "what RFC 6749 has",
    ("`delete`", "space"): "`recall` and `save` have it",
    ("`hook`", "name"): "for packages that register hooks as strategies",
    ("`hook`", "with"): "as `name`",
    ("a body", "text"): "a body is JSON or a form, and else a text",
    ("a lens", "engine"): "lenses of an operator's own search engine",
    ("a page", "accept"): "examples of pages",
    ("a page", "fault"): "examples of pages",
    ("a page", "parts"): "examples of pages",
    ("a resource", "mime_type"): "an answer is JSON, and else has its type",
    ("a sent request", "base64"): "as the body",
    ("a setting", "rotate"): "several keys of one account",
    ("a step", "csv"): "`tsv` has it",
    ("a strategy", "hook"): "as its `name`",
    ("an item that is left", "owner"): "examples of tools",
    ("an operation", "capability"): "a second operation of one capability",
    ("rows of a view", "when"): "rows of a view that hang on more than their list",
}
"""Words without a user in the shipped specs, and what they are there for."""
SCHEMAS = {"a field of the items", "a field", "an argument"}
"""Records whose words are those of JSON Schema, and have no users of their own to have."""


def is_registered(title: str) -> bool:
    """Whether a record is that of a converter or a decoder, which packages register and the reference lists."""
    return title == "a converter" or title.strip("`") in {
        "csv",
        "html",
        "json",
        "jsonstat",
        "sdmx",
        "text",
        "tsv",
        "webvtt",
        "xml",
    }


def test_a_word_of_search_has_three_users() -> None:
    counts = count_words(shipped_specs().library)

    few = {word for word, count in counts.items() if (word[0] in SEARCH or word in ALSO) and count < 3}

    assert set(counts) >= ALSO
    assert few == set(FEW)


def test_no_word_is_without_a_user_unless_it_is_known_to_be() -> None:
    counts = count_words(shipped_specs().library)

    unused = {word for word, count in counts.items() if not count and word[0] not in SCHEMAS}

    assert {word for word in unused if not is_registered(word[0])} == set(UNUSED)


def test_words_are_counted_where_they_stand_and_not_by_their_names() -> None:
    counts = count_words(shipped_specs().library)

    assert counts["an operation", "until"] == counts["`until`", "day"] == 3
    assert counts["a provider", "name"] == len(shipped_specs().library.of("provider"))
