"""What became of a work: the gravest notice counts, whatever order and spelling a registry has."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specloom.trust.integrity import Integrity, Update, find_integrity, parse_updates


@pytest.mark.parametrize(
    ("types", "kind"),
    [
        (["retraction"], "retraction"),
        (["partial_retraction"], "retraction"),
        (["withdrawal"], "retraction"),
        (["removal"], "retraction"),
        (["Expression of Concern"], "expression_of_concern"),
        (["erratum"], "correction"),
        (["addendum"], "correction"),
        (["correction", "retraction", "correction"], "retraction"),
        (["correction", "expression-of-concern"], "expression_of_concern"),
    ],
)
def test_the_gravest_notice_counts(types, kind):
    found = find_integrity([Update(each) for each in types])

    assert found is not None
    assert (found.kind, found.retracted) == (kind, kind == "retraction")


@pytest.mark.parametrize("types", [[], ["new_version"], ["new_edition", "crossmark"], [""]])
def test_what_changes_nothing_is_no_notice(types):
    assert find_integrity([Update(each) for each in types]) is None


def test_the_later_of_equals_counts():
    found = find_integrity([Update("correction", notice="10.1000/a"), Update("erratum", notice="10.1000/b")])

    assert found is not None
    assert found.notice == "10.1000/b"


def test_a_record_lists_its_notices():
    message = {
        "updated-by": [
            {
                "type": "correction",
                "DOI": "10.1000/A",
                "source": "publisher",
                "updated": {"date-parts": [[2012, 5, 8]], "date-time": "2012-05-08T00:00:00Z"},
            },
            {
                "type": "retraction",
                "DOI": "10.1000/B",
                "source": "retraction-watch",
                "updated": {"date-parts": [[2014, 7]]},
            },
            {"type": 5},
            "broken",
        ]
    }

    found = parse_updates(message)

    assert found == (
        Update("correction", "2012-05-08", "10.1000/a", "publisher"),
        Update("retraction", "2014-07", "10.1000/b", "retraction-watch"),
    )
    assert find_integrity(found) == Integrity("retraction", "2014-07", "10.1000/b", "retraction-watch")


_KEYS = st.sampled_from(["type", "DOI", "updated", "date-parts", "date-time"])
_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8)),
    lambda each: st.one_of(st.lists(each, max_size=3), st.dictionaries(_KEYS, each)),
    max_leaves=12,
)


@settings(deadline=None, derandomize=True, max_examples=150)
@given(_JSON)
def test_any_record_lists_some_notices_or_none(value):
    assert all(isinstance(each.type, str) for each in parse_updates({"updated-by": value}))
