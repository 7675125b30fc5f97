"""The grammar of tool files."""

from __future__ import annotations

from specloom.core import FORMATS, KINDS

from .common import (
    IDENTIFIER,
    NAME,
    SETTING,
    SHARED,
    duration,
    expression,
    name,
    prose,
    record,
    setting,
    tables,
    values,
)
from .examples import tool_example
from .rules import Anything, Either, Flag, Grammar, Items, Key, Named, Number, RuleReference, Text

# --- How a spec says whom a tool asks and what happens to the rows ----------------------------------------------------


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

_part_space = Key(expression, "The shared place, for a collection that is shared; only its members reach it.")

_recall = record(
    "`recall`",
    {
        "from": Key(Text("name", NAME), "The collection that is read, as the caller sees it.", required=True),
        "space": _part_space,
        "key": Key(expression, "The one item of that key; a list of texts is a key of several parts."),
        "where": Key(
            Named(expression, IDENTIFIER, "an index"), "Items of which an index has this text; null asks for all."
        ),
        "about": Key(expression, "Items about the words of this text, best first; the newest first where it is null."),
        "take": Key(expression, "How many at most; all of them when left out."),
    },
)

_save = record(
    "`save`",
    {
        "into": Key(Text("name", NAME), "The collection that is written, as the caller.", required=True),
        "space": _part_space,
        "key": Key(
            expression, "Under which key; a list of texts is a key of several parts. A new identifier when left out."
        ),
        "value": Key(
            Named(expression, IDENTIFIER, "a field of the collection"),
            "The fields, which see the `key` and what `was` there, null for nothing; null leaves a field out.",
            required=True,
        ),
        "lasts": Key(expression, "After how many seconds it ends, where that is before the collection's lifetime."),
        "only_there": Key(Flag(), "Only an item that is there is written."),
    },
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
                        "operation": Key(Text("name", NAME), "The operation that is asked."),
                        "recall": Key(_recall, "Items of a collection are the rows."),
                        "save": Key(_save, "An item of a collection is written, and is the row."),
                        "providers": Key(Text("value"), "Who is asked, in order, until one answers."),
                        "required": Key(Flag(), "Its fault is the call's; otherwise it is told as the part's."),
                        "with": Key(
                            values, "Arguments that differ from the tool's inputs; the rest is passed by name."
                        ),
                        "on": Key(_on, "What a fault or an empty answer of one provider leads to: `next` or `stop`."),
                        "after": Key(Items(stage), "What happens to the rows of this part."),
                    },
                    one_of=(
                        (("operation", "recall", "save"), True),
                        (("providers", "recall", "save"), True),
                    ),
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
            "Ask several things at once; parts.NAME has `rows` and `asked`, a question also `fault`, `provider` and "
            "`meta`, what reaches into a collection `status` and `reason`.",
        ),
        "hook": Key(_hook, "Registered Python makes the rows."),
        "procedure": Key(_procedure, "Registered Python does the work, asking as it goes, and gives the `result`."),
        "on": Key(_on, "What a fault or an empty answer leads to: `next` or `stop`."),
    },
    one_of=((("call", "first_of", "gather", "collect", "hook", "procedure"), True),),
)


_format = Key(
    Text(choices=tuple(FORMATS)),
    "What the text has to be: `date` is a day of the calendar as YYYY-MM-DD, `date_or_year` that or a year as YYYY.",
)
_EXCLUSIVE = ((("pattern", "format"), False), (("says", "format"), False))

_item_field = record(
    "a field of the items",
    {
        "type": Key(Text(choices=("string", "integer", "number", "boolean")), "What kind of value.", required=True),
        "description": Key(prose, "For the model that calls.", required=True),
        "required": Key(Flag(), "An item without it is refused."),
        "enum": Key(Items(Text("value"), 1), "The values that it can have."),
        "minimum": Key(Number(whole=False), "Least value."),
        "maximum": Key(Number(whole=False), "Largest value."),
        "min_length": Key(Number(0), "Least number of characters after trimming."),
        "max_length": Key(Number(1), "Most characters."),
        "pattern": Key(Text("value"), "A regular expression that the whole text matches."),
        "says": Key(prose, "What the pattern wants, in words."),
        "format": _format,
    },
    one_of=_EXCLUSIVE,
)

_input = record(
    "an input",
    {
        "type": Key(
            Text(choices=("string", "integer", "number", "boolean", "list", "object")),
            "What kind of value; a list is one of texts, or of objects where `items` is said.",
            required=True,
        ),
        "description": Key(prose, "For the model that calls.", required=True),
        "required": Key(Flag(), "The call is refused without it."),
        "default": Key(Anything(), "The value when it is left out."),
        "enum": Key(
            Either(
                Text("name", rf"lenses|providers\.{NAME}(?:\|{NAME})*", "lenses or providers.CAPABILITY"),
                Items(Text("value"), 1),
            ),
            "The values that it can have; `lenses` or `providers.CAPABILITY` (several with `|`) for a catalogue.",
        ),
        "open": Key(Flag(), "The enum is not published: values are checked by name at the call."),
        "minimum": Key(Number(whole=False), "Least value."),
        "maximum": Key(Number(whole=False), "Largest value."),
        "clamp": Key(Flag(), "Values outside are moved to the bound, and the answer says so."),
        "min_length": Key(Number(0), "Least number of characters after trimming."),
        "max_length": Key(Number(1), "Most characters."),
        "pattern": Key(Text("value"), "A regular expression that the whole text matches."),
        "says": Key(prose, "What the pattern wants, in words."),
        "format": _format,
        "max_items": Key(Number(1), "Most items of a list."),
        "items": Key(
            Named(_item_field, IDENTIFIER, "a field name is an identifier"),
            "The fields of each item of a list, which is then one of objects; other fields are refused.",
        ),
    },
    one_of=_EXCLUSIVE,
)

_answer_list = record(
    "an answer's list",
    {
        "each": Key(expression, "The rows.", required=True),
        "take": Key(expression, "How many of them at most."),
        "map": Key(Named(RuleReference("field"), IDENTIFIER), "Fields of each.", required=True),
    },
)

SPREAD = "..."
"""The key of an answer that stands for all fields of a record that no other key is called like."""

answer = Either(
    Text("value"),
    None,
    Named(
        Either(Text("value"), None, _answer_list),
        rf"{IDENTIFIER}|\.\.\.",
        "the key of an answer is an identifier, or `...` for the fields of a record",
    ),
)

_annotations = record(
    "`annotations`",
    {
        "read_only": Key(Flag(), "It changes nothing.", required=True),
        "destructive": Key(Flag(), "It may destroy.", required=True),
        "idempotent": Key(Flag(), "Twice is as once.", required=True),
        "open_world": Key(Flag(), "It reaches outside.", required=True),
    },
)

_check = record(
    "a check",
    {
        "refuse_when": Key(expression, "The call is refused when this holds.", required=True),
        "message": Key(expression, "The sentence.", required=True),
    },
)

_cache = record(
    "`cache`",
    {
        "ttl": Key(duration, "How long an answer stays good.", required=True),
        "shape": Key(Number(1), "Raised when the answer's shape changes.", required=True),
        "ignore": Key(Items(Text("name", IDENTIFIER)), "Inputs that provably change nothing."),
        "unless": Key(expression, "Answers that are not kept."),
        "age_as": Key(
            Text("name", IDENTIFIER), "The key of the answer that gets its age in whole seconds, 0 for a new one."
        ),
        "always_say": Key(Flag(), "Freshness is in `_meta` of new answers too, not only of kept ones."),
    },
)

_advice = record(
    "advice",
    {
        "when": Key(expression, "Holds.", required=True),
        "reason": Key(name, "Replaces the reason."),
        "action": Key(name, "What to do.", required=True),
        "parameter": Key(name, "With which input; to leave that one out is then never advised."),
        "detail": Key(prose, "In a sentence.", required=True),
    },
)

_hints = record(
    "`hints`",
    {
        "filters": Key(
            Items(Text("name", IDENTIFIER), 1),
            "Inputs that narrow the search, the most restrictive first.",
            required=True,
        ),
        "always": Key(Items(Text("name", IDENTIFIER)), "Inputs that are listed even when they have their default."),
        "also": Key(Items(_advice), "Advice for special cases."),
    },
)

_link = record(
    "`link`",
    {
        "above": Key(Number(1), "From how many bytes of JSON on.", required=True),
        "when": Key(expression, "Only then; sees `args` and `answer`."),
        "summary": Key(expression, "The sentence that stands for it; sees `args` and `answer`.", required=True),
        "also": Key(values, "What else is told of it, by key; sees `args` and `answer`."),
    },
)

_record = record(
    "`record`",
    {
        "session": Key(Text("name", IDENTIFIER), "The input that names the research session.", required=True),
        "as": Key(name, "What kind of source the rows are.", required=True),
        "sources": Key(
            expression,
            "The sources, where they are not the lists that the answer makes of rows; sees `answer`, and the `rows` "
            "behind it.",
        ),
        "failures": Key(
            Text("name", IDENTIFIER), "The list of the answer that tells, by `url` and `kind`, what could not be read."
        ),
    },
)

_tool = record(
    "a tool",
    {
        "spec": Key(Text(choices=("tool/1",)), "tool/1", required=True),
        "name": Key(name, "The file's stem, and the tool's name.", required=True),
        "title": Key(prose, "For people.", required=True),
        "description": Key(prose, "For the model: when to use it, what it returns, when not to.", required=True),
        "toolsets": Key(Items(name), "Toolsets besides that of its folder."),
        "annotations": Key(_annotations, "The four hints of MCP.", required=True),
        "config": Key(Named(setting, SETTING), "Settings of the tool itself."),
        "opt_in": Key(
            Text("name", SETTING), "The switch among its settings without which the tool does not exist for clients."
        ),
        "needs_provider": Key(
            Flag(), "Whether the tool exists for clients only where a provider of what it asks first is configured."
        ),
        "input": Key(Named(_input, IDENTIFIER), "Its arguments.", required=True),
        "checks": Key(Items(_check), "What no single input can say."),
        "cache": Key(_cache, "How long and under which key answers are kept; without it they are not."),
        "tables": Key(tables, "Look-up tables."),
        "values": Key(Named(expression, IDENTIFIER), "Named expressions, seen as values.NAME."),
        "deadline": Key(duration, "For the whole call; 60s when left out."),
        "plan": Key(Items(strategy, 1), "Strategies, in order, until one answers.", required=True),
        "after": Key(Items(stage), "What happens to the rows."),
        "hints": Key(_hints, "What an empty answer says."),
        "answer": Key(
            answer,
            "What is returned; the output schema is derived from it. `=result` returns the record of a procedure as it "
            "is, nulls included; under the key `...` it gives those of its fields that no other key is called like.",
            required=True,
        ),
        "envelope": Key(name, "A registered envelope: faults, refused arguments too, become ordinary answers in it."),
        "link": Key(_link, "A large answer is kept for a short time and linked, not inlined."),
        "record": Key(_record, "Sources go to the caller's session; this never changes the answer."),
        "examples": Key(Items(tool_example), "Run offline, through the code that serves."),
    },
)

TOOL = Grammar(_tool, SHARED)
