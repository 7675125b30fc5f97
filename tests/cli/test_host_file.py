"""One entry is put into a host's configuration and taken out, and nothing else in it is touched."""

from __future__ import annotations

import json
import re
import string
import tomllib

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from specloom.cli.host_file import HostFileError, find_entry, put_entry, remove_entry

PATH = ["mcpServers", "specloom"]
ENTRY = {"command": "/opt/specloom", "args": ["serve"], "env": {"BRAVE_API_KEY": 'k"ey'}}


def plain(text: str) -> object:
    """A JSONC text that these tests write, read by the library: they write comments on lines of their own."""
    return json.loads(re.sub(r"(?m)//.*$|/\*.*?\*/", "", re.sub(r",(\s*(?://[^\n]*\s*)?[}\]])", r"\1", text)))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "mcpServers": {\n    "specloom": {\n      "command": "x"\n    }\n  }\n}\n'),
        ("{}", '{\n  "mcpServers": {\n    "specloom": {\n      "command": "x"\n    }\n  }\n}'),
        ('{"a": 1}', '{"a": 1, "mcpServers": {"specloom": {"command": "x"}}}'),
        ('{"a": 1 // one\n}', '{"a": 1, // one\n"mcpServers": {"specloom": {"command": "x"}}\n}'),
        (
            '{\n\t"mcpServers": {\n\t\t"other": {}, // theirs\n\t}\n}\n',
            '{\n\t"mcpServers": {\n\t\t"other": {}, // theirs\n\t\t"specloom": {\n\t\t\t"command": "x"\n\t\t}\n'
            "\t}\n}\n",
        ),
        (
            '{\r\n    "mcpServers": {\r\n        "other": {}\r\n    }\r\n}',
            '{\r\n    "mcpServers": {\r\n        "other": {},\r\n        "specloom": {\r\n            "command": "x"'
            "\r\n        }\r\n    }\r\n}",
        ),
        (
            "{ // nothing yet\n}",
            '{ // nothing yet\n  "mcpServers": {\n    "specloom": {\n      "command": "x"\n    }\n  }\n}',
        ),
    ],
)
def test_an_entry_is_written_as_the_file_is_written(before: str, after: str) -> None:
    assert put_entry(before, "jsonc", PATH, {"command": "x"}) == after


def test_an_entry_is_taken_out_with_its_lines_and_comments_of_others_stay() -> None:
    text = (
        '{\n  "mcpServers": {\n    // the first\n    "other": {}, // theirs\n    "specloom": {\n      "command": "x"\n'
        '    } // last\n  },\n  "b": 1\n}\n'
    )

    assert remove_entry(text, "jsonc", PATH) == (
        '{\n  "mcpServers": {\n    // the first\n    "other": {} // theirs\n     // last\n  },\n  "b": 1\n}\n'
    )


def test_an_entry_in_the_middle_goes_with_its_comma() -> None:
    text = '{"mcpServers": {"specloom": {"command": "x"}, "other": {}}}'

    assert plain(remove_entry(text, "json", PATH)) == {"mcpServers": {"other": {}}}


def test_an_entry_that_is_there_is_replaced_in_its_place() -> None:
    text = '{\n  "mcpServers": {\n    "specloom": {"command": "old"},\n    "z": {} // z\n  }\n}'

    changed = put_entry(text, "jsonc", PATH, {"command": "x"})

    assert changed == text.replace('{"command": "old"}', '{\n      "command": "x"\n    }')


@pytest.mark.parametrize(
    ("text", "form", "says"),
    [
        ('{"a": }', "json", "a value is missing at line 1, column 7"),
        ('{\n  "a": 1,\n}', "json", "a comma stands before the end at line 3, column 1"),
        ('{\n  // x\n  "a": 1}', "json", "a comment, which this host does not read, at line 1, column 2"),
        ('{"a": 1} x', "jsonc", "there is more after its end at line 1, column 10"),
        ('{"a": 1', "jsonc", "',' is missing at line 1, column 8"),
        ('{"a" 1}', "jsonc", "':' is missing at line 1, column 6"),
        ("{'a': 1}", "jsonc", 'a text in "…" is missing at line 1, column 2'),
        ("[" * 300, "jsonc", "it is nested too deep at line 1, column 202"),
        ("[" + "9" * 5000 + "]", "jsonc", "a number is too long at line 1, column 2"),
        ('{"mcpServers": []}', "json", "mcpServers is no table of names"),
        ("[]", "json", " is no table of names"),
        ('{"mcpServers": {"specloom": 1}}', "json", "mcpServers.specloom is no table of names"),
        ('{"mcpServers": {}, "mcpServers": {}}', "json", "'mcpServers' is there twice"),
        ("a = = 1", "toml", "Invalid value (at line 1, column 5)"),
        ("mcpServers = {}", "toml", "mcpServers is written in a way that nothing can be added to or taken from"),
    ],
)
def test_what_cannot_be_changed_is_said_with_its_place(text: str, form: str, says: str) -> None:
    with pytest.raises(HostFileError) as caught:
        put_entry(text, form, PATH, ENTRY)

    assert str(caught.value) == says


def test_toml_has_its_table_at_the_end_and_comments_stay_above_what_they_are_about() -> None:
    text = (
        '# mine\nmodel = "x"  # why\n\n[mcpServers.other]\ncommand = "a" # keep\n\n# projects\n[projects."/a"]\nn = 1\n'
    )

    changed = put_entry(text, "toml", PATH, ENTRY)

    assert changed == text + (
        '\n[mcpServers.specloom]\ncommand = "/opt/specloom"\nargs = ["serve"]\n\n[mcpServers.specloom.env]\n'
        'BRAVE_API_KEY = "k\\"ey"\n'
    )
    assert remove_entry(changed, "toml", PATH) == text


def test_a_table_of_toml_in_the_middle_goes_and_the_comment_of_the_next_stays() -> None:
    text = '[mcpServers.specloom]\ncommand = "x"\n[mcpServers.specloom.env]\nA = "b"\n\n# next\n[other]\nn = 1\n'

    assert remove_entry(text, "toml", PATH) == "\n# next\n[other]\nn = 1\n"


def test_a_text_of_toml_that_looks_like_a_table_is_not_cut() -> None:
    text = '[mcpServers.specloom]\ncommand = "x"\n[other]\nn = """\n[mcpServers.specloom]\nmine\n"""\n'

    with pytest.raises(HostFileError, match="nothing can be added"):
        remove_entry(text, "toml", PATH)


# --- nothing of others' is lost, whatever the file holds --------------------------------------------------------------

NAMES = st.text(string.ascii_letters + '_- "\\/é', min_size=1, max_size=6)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text('a"\\/{},: é\n', max_size=8))
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=8
)
SERVERS = st.dictionaries(NAMES, st.dictionaries(NAMES, VALUES, max_size=2), max_size=3)
DOCUMENTS = st.one_of(
    st.dictionaries(NAMES, VALUES, max_size=3),
    st.builds(lambda one, servers: {**one, "mcpServers": servers}, st.dictionaries(NAMES, VALUES, max_size=2), SERVERS),
    st.builds(lambda one, servers: {"mcpServers": servers, **one}, st.dictionaries(NAMES, VALUES, max_size=2), SERVERS),
)


@st.composite
def jsonc_texts(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A document as somebody may have written it, and the comments in it."""
    comments: list[str] = []

    def gap() -> str:
        kind = draw(st.sampled_from(["", "", " ", "\n", "\n  ", "\t", "line", "block"]))
        if kind in ("line", "block"):
            comments.append(f"note-{len(comments)}")
            return f" // {comments[-1]}\n" if kind == "line" else f" /* {comments[-1]} */ "
        return kind

    def write(value: object) -> str:
        if isinstance(value, dict):
            parts = [f"{gap()}{json.dumps(key)}{gap()}:{gap()}{write(one)}{gap()}" for key, one in value.items()]
            return "{" + ",".join(parts) + ("," if parts and draw(st.booleans()) else "") + gap() + "}"
        if isinstance(value, list):
            return "[" + ",".join(gap() + write(one) + gap() for one in value) + "]"
        return json.dumps(value)

    return gap() + write(draw(DOCUMENTS)) + gap(), comments


def read(text: str) -> dict[str, object]:
    from specloom.cli.host_file import _read

    found = _read(text, "jsonc")
    assert isinstance(found, dict)
    return found


@given(jsonc_texts())
def test_whatever_stands_in_a_file_stands_in_it_after_an_entry_was_put(made: tuple[str, list[str]]) -> None:
    text, comments = made
    before = read(text)
    assume(isinstance(before.get("mcpServers", {}), dict))

    changed = put_entry(text, "jsonc", PATH, ENTRY)

    assert find_entry(changed, "jsonc", PATH) == ENTRY
    after = read(changed)
    after["mcpServers"].pop("specloom")  # type: ignore[attr-defined]
    assert {**before, "mcpServers": before.get("mcpServers", {})} == after
    assert [one for one in comments if one not in changed] == []
    assert put_entry(changed, "jsonc", PATH, ENTRY) == changed
    gone = remove_entry(changed, "jsonc", PATH)
    assert read(gone) == after
    assert [one for one in comments if one not in gone] == []


TOML_KEYS = st.text(string.ascii_lowercase, min_size=1, max_size=5)


@given(st.dictionaries(TOML_KEYS, st.dictionaries(TOML_KEYS, st.text('a"[]=#\\é', max_size=6), max_size=3), max_size=3))
def test_whatever_stands_in_a_file_of_toml_stays_byte_for_byte(document: dict[str, dict[str, str]]) -> None:
    text = "".join(
        f"# about {name}\n[mcpServers.{name}]\n" + "".join(f"{key} = {json.dumps(one)}\n" for key, one in table.items())
        for name, table in document.items()
    )

    changed = put_entry(text, "toml", PATH, ENTRY)

    assert changed.startswith(text)
    assert tomllib.loads(changed)["mcpServers"]["specloom"] == ENTRY
    assert remove_entry(changed, "toml", PATH) == text
