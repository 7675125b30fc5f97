"""How a spec says whom a tool asks and what happens to the rows."""

from __future__ import annotations

from .faults import KINDS
from .grammar_words import IDENTIFIER, NAME, expression, name, prose, record, values
from .rules import Either, Flag, Items, Key, Named, Text

_fallback = Either(Text(choices=("next", "stop")), None, None)
_on = Named(_fallback, "empty|error|" + "|".join(KINDS), "`empty`, `error` or a kind of fault")

_call_keys = {
    "operation": Key(Text("name", NAME), "The operation, which is a capability's name.", required=True),
    "with": Key(values, "Arguments that differ from the tool's inputs; the rest is passed by name."),
}

_call = record(
    "`call`", {"provider": Key(Text("value"), "The one provider that is asked.", required=True), **_call_keys}
)

_again = record(
    "`again`",
    {
        "when": Key(expression, "Ask the same provider once more; `rows` is what it gave.", required=True),
        "with": Key(values, "What differs.", required=True),
    },
)

_first_of = record(
    "`first_of`",
    {
        "providers": Key(Text("value"), "Who is asked, in order.", required=True),
        **_call_keys,
        "again": Key(_again, "A second try with the same provider, kept only when it gives more."),
        "first_decides": Key(
            Flag(),
            "Where the first fails and nobody after it finds anything, its fault is told and not that nothing is.",
        ),
    },
)

_gather = record(
    "`gather`", {"providers": Key(Text("value"), "Who is asked, all at once.", required=True), **_call_keys}
)

_hook = record(
    "`hook`", {"name": Key(name, "A registered hook.", required=True), "with": Key(values, "Its parameters.")}
)

_procedure = record(
    "`procedure`",
    {"name": Key(name, "A registered procedure.", required=True), "with": Key(values, "Its parameters.")},
)

_dedupe = record(
    "`dedupe`",
    {
        "by": Key(
            Items(Either(Text("name", IDENTIFIER), Items(Text("name", IDENTIFIER), 2), None), 1),
            "Rows that share one of these fields, or all fields of a list of them, are one; the first stays.",
            required=True,
        )
    },
)

_sort = record(
    "`sort`",
    {
        "by": Key(Text("name", IDENTIFIER), "The field.", required=True),
        "descending": Key(Flag(), "Largest first."),
        "when": Key(expression, "Only then."),
    },
)

_group = record(
    "`group`",
    {
        "by": Key(expression, "What the rows of a group have in common, worked out for each `row`.", required=True),
        "as": Key(name, "groups.NAME lists each `key` with its `count`, the largest first.", required=True),
        "when": Key(expression, "Only then; otherwise there are no groups."),
    },
)

_expand = record(
    "`expand`",
    {
        "list": Key(
            Text("name", IDENTIFIER), "The field with the list; a row without items is dropped.", required=True
        ),
        "as": Key(Text("name", IDENTIFIER), "The field that each row gets one item as.", required=True),
    },
)

_enrich = record(
    "`enrich`",
    {
        "hook": Key(name, "A registered hook.", required=True),
        "with": Key(values, "Its parameters."),
        "when": Key(expression, "Only then."),
        "optional": Key(Flag(), "Its failure leaves the rows as they are."),
    },
)

_lookup = record(
    "`lookup`",
    {
        "when": Key(expression, "Only for rows for which this holds."),
        "operation": Key(Text("name", NAME), "The operation that is asked once for each row.", required=True),
        "providers": Key(Text("value"), "Who is asked, in order, until one answers.", required=True),
        "with": Key(values, "The arguments; `row` is the row.", required=True),
        "take": Key(
            Named(Text("name", IDENTIFIER), IDENTIFIER, "a row field"),
            "Fields that the row gets, each with the field of the answer's first row that it is taken from.",
            required=True,
        ),
        "replace": Key(Flag(), "What the row has already is replaced."),
        "optional": Key(Flag(), "Its failure leaves the rows as they are."),
    },
)

_STAGES = (
    *("keep", "drop", "dedupe", "sort", "group", "set", "expand", "take"),
    *("enrich", "lookup", "procedure"),
)

stage = record(
    "a stage",
    {
        "keep": Key(expression, "Keeps a row when this holds."),
        "drop": Key(expression, "Drops a row when this holds."),
        "dedupe": Key(_dedupe, "One row for each thing."),
        "sort": Key(_sort, "A stable sort; rows without the field come last."),
        "group": Key(_group, "Rows of a group stand together, the largest group first and rows of none last."),
        "set": Key(
            Named(expression, IDENTIFIER, "a row field"),
            "Fields that every row gets, worked out from `row`; null removes.",
        ),
        "expand": Key(_expand, "One row for each item of a list."),
        "take": Key(expression, "How many rows at most."),
        "enrich": Key(_enrich, "A hook adds fields to the rows."),
        "lookup": Key(_lookup, "A provider is asked about each row and adds fields to it."),
        "procedure": Key(_procedure, "Registered Python works with the rows that it is given, and gives the `result`."),
        "as": Key(name, "The rows that `keep` or `drop` removed are counted as dropped.NAME."),
    },
    one_of=((_STAGES, True),),
)

_collect = record(
    "`collect`",
    {
        "parts": Key(
            Named(
                record(
                    "a part",
                    {
                        "when": Key(expression, "The part is left out when this does not hold."),
                        "operation": Key(Text("name", NAME), "The operation that is asked.", required=True),
                        "providers": Key(Text("value"), "Who is asked, in order, until one answers.", required=True),
                        "with": Key(
                            values, "Arguments that differ from the tool's inputs; the rest is passed by name."
                        ),
                        "on": Key(_on, "What a fault or an empty answer of one provider leads to: `next` or `stop`."),
                        "after": Key(Items(stage), "What happens to the rows of this part."),
                    },
                ),
                IDENTIFIER,
                "a part's name",
            ),
            "Questions by name, asked side by side; one that uses another's answer waits for it.",
            required=True,
        ),
        "rows": Key(
            Items(Text("name", IDENTIFIER), 1),
            "The parts whose rows go on, one part after the other; all of them when left out.",
        ),
    },
)

strategy = record(
    "a strategy",
    {
        "name": Key(prose, "What it does, in words.", required=True),
        "when": Key(expression, "The strategy is skipped when this does not hold."),
        "call": Key(_call, "Ask one provider and no other."),
        "first_of": Key(_first_of, "Ask in order until one answers."),
        "gather": Key(_gather, "Ask several at once and interleave their rows."),
        "collect": Key(
            _collect,
            "Ask several things at once; parts.NAME has `rows`, `fault`, `provider`, `asked` and `meta` of each.",
        ),
        "hook": Key(_hook, "Registered Python makes the rows."),
        "procedure": Key(_procedure, "Registered Python does the work, asking as it goes, and gives the `result`."),
        "on": Key(_on, "What a fault or an empty answer leads to: `next` or `stop`."),
    },
    one_of=((("call", "first_of", "gather", "collect", "hook", "procedure"), True),),
)
