"""How a spec says what one operation asks, and how it reads the answer."""

from __future__ import annotations

from .decode import DECODERS
from .grammar_words import IDENTIFIER, duration, expression, headers, name, prose, record, value, values
from .rules import Flag, Items, Key, Named, Number, Ref, Rule, Text


def _decoder_keys() -> dict[str, Key]:
    keys: dict[str, Key] = {}
    for word, decoder in DECODERS.items():
        own: dict[str, Key] = {
            "each": Key(Text("selector"), "Selects the items; without it the whole document is one item."),
            "keep": Key(expression, "Keeps a row when this holds; `row` is the mapped row."),
            "take": Key(expression, "How many rows at most."),
            "empty_is_ok_when": Key(
                Text("selector"), "An answer without items is a changed layout unless this selects something."
            ),
            "map": Key(
                Named(Ref("field"), IDENTIFIER, "a field name is an identifier"), "Row fields and where they come from."
            ),
        }
        for option_name, option in decoder.options.items():
            own[option_name] = Key(_option_rule(option.kind), option.doc)
        keys[word] = Key(record(f"`{word}`", own), decoder.doc.split("\n")[0])
    return keys


def _option_rule(kind: str) -> Rule:
    rules: dict[str, Rule] = {
        "boolean": Flag(),
        "character": Text("value", r".", "one character"),
        "texts": Items(Text("value"), 1),
        "namespaces": Named(Text("value", r"\S+", "a namespace address"), IDENTIFIER, "a prefix"),
    }
    return rules[kind]


_body = record(
    "a body",
    {
        "json": Key(value, "Sent as JSON; null leaves a key out."),
        "form": Key(values, "Sent as application/x-www-form-urlencoded."),
        "text": Key(Text("value"), "Sent as it is."),
    },
    one_of=((("json", "form", "text"), True),),
)

_parameter = Key(Text("value"), "The query parameter.", required=True)

_paging = record(
    "`paging`",
    {
        "page": Key(
            record(
                "`page`", {"parameter": _parameter, "from": Key(Number(0), "The first page's number; 1 when left out.")}
            ),
            "Pages are numbered.",
        ),
        "offset": Key(
            record(
                "`offset`",
                {
                    "parameter": _parameter,
                    "from": Key(Number(0), "The first row's number; 0 when left out."),
                    "by": Key(Number(1), "How many rows a page has.", required=True),
                },
            ),
            "Rows are numbered.",
        ),
        "cursor": Key(
            record(
                "`cursor`",
                {
                    "parameter": _parameter,
                    "at": Key(expression, "Where the next cursor is; `page` is the document.", required=True),
                },
            ),
            "Every page names the next.",
        ),
        "names": Key(
            record(
                "`names`",
                {
                    "at": Key(
                        expression,
                        "The names of the pages after the first, in order; each takes the place of the path's end.",
                        required=True,
                    )
                },
            ),
            "Every page has a path of its own, and all are known before the first is read.",
        ),
        "link": Key(Text(choices=("next",)), "The Link header names the next page (RFC 8288), on the same host."),
        "most": Key(Number(1, 100), "How many pages are read at most.", required=True),
        "enough": Key(expression, "No further page is read when this holds; `rows` are those read so far."),
    },
    one_of=((("page", "offset", "cursor", "names", "link"), True),),
)

_step = record(
    "a step",
    {
        "as": Key(name, "The step's name, under which later steps see its rows; `main` when left out."),
        "when": Key(expression, "The step is skipped when this does not hold."),
        "optional": Key(Flag(), "Decoration: its failure leaves the rows as they are."),
        "keep_for": Key(duration, "How long the response may be used again by anyone who sends the same request."),
        "get": Key(Text("path"), "GET this path under the service's base."),
        "post": Key(Text("path"), "POST to this path under the service's base."),
        "base": Key(
            Text("value", r"https://\S+", "an https URL"),
            "Another host of the same upstream, which this step's path is under; headers, key and limits stay.",
        ),
        "headers": Key(headers, "Headers of this step."),
        "query": Key(values, "Query parameters of this step."),
        "body": Key(_body, "The body of a POST."),
        "paging": Key(_paging, "How the next page is asked for, and when to stop."),
        **_decoder_keys(),
    },
    one_of=((("get", "post"), True), (tuple(DECODERS), True)),
)

_shard = record(
    "`shard`",
    {
        "over": Key(Text("name", IDENTIFIER), "The list argument that is split.", required=True),
        "at_most": Key(Number(1), "How many items one request takes.", required=True),
        "fits": Key(expression, "Holds when the request is within the upstream's limit."),
    },
)

_join = record(
    "`join`",
    {
        "with": Key(expression, "Rows to take fields from.", required=True),
        "on": Key(Text("name", IDENTIFIER), "The field that both have.", required=True),
        "take": Key(Items(Text("name", IDENTIFIER), 1), "The fields to take.", required=True),
    },
)

_nearest = record(
    "`nearest`",
    {
        "lat": Key(expression, "Latitude of the point, degrees.", required=True),
        "lon": Key(expression, "Longitude of the point, degrees.", required=True),
        "within": Key(expression, "Drops what is farther, metres."),
    },
)

_rows = record(
    "`rows`",
    {
        "from": Key(expression, "The rows that come out; those of the last required step when left out."),
        "join": Key(_join, "Adds fields of other rows with the same key."),
        "nearest": Key(_nearest, "Sorts by distance from a point; rows without lat and lon come last."),
        "keep": Key(expression, "Keeps a row when this holds."),
        "take": Key(expression, "How many rows at most."),
    },
)

operation = record(
    "an operation",
    {
        "description": Key(prose, "What is particular about it."),
        "capability": Key(name, "The capability that it offers; its own name when left out."),
        "input": Key(
            Items(Text("name", IDENTIFIER, "an argument's name"), 1),
            "The capability's arguments that it understands.",
            required=True,
        ),
        "values": Key(Named(expression, IDENTIFIER, "a value's name"), "Named expressions, seen as values.NAME."),
        "shard": Key(
            _shard,
            "Splits a list argument over several runs, so that a limit of the upstream never cuts it; "
            "rows are interleaved.",
        ),
        "steps": Key(Items(_step, 1), "The requests, in order.", required=True),
        "rows": Key(_rows, "What comes out, when it is not simply the step's rows."),
        "meta": Key(
            Named(expression, IDENTIFIER),
            "Facts about the whole answer (`page` is the last document), seen in `_meta`.",
        ),
    },
)
