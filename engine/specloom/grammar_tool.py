"""The grammar of tool files."""

from __future__ import annotations

from .dates import FORMATS
from .grammar_examples import tool_example
from .grammar_plan import stage, strategy
from .grammar_words import (
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
from .rules import Anything, Either, Flag, Grammar, Items, Key, Named, Number, Ref, Text

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
        "map": Key(Named(Ref("field"), IDENTIFIER), "Fields of each.", required=True),
    },
)

_answer_value = Either(Text("value"), None, _answer_list)

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
            Either(Text("value"), None, Named(_answer_value, IDENTIFIER)),
            "What is returned; the output schema is derived from it. `=result` returns the record of a procedure as it "
            "is, nulls included.",
            required=True,
        ),
        "envelope": Key(name, "A registered envelope: faults, refused arguments too, become ordinary answers in it."),
        "link": Key(_link, "A large answer is kept for a short time and linked, not inlined."),
        "record": Key(_record, "Sources go to the caller's session; this never changes the answer."),
        "examples": Key(Items(tool_example), "Run offline, through the code that serves."),
    },
)

TOOL = Grammar(_tool, SHARED)
