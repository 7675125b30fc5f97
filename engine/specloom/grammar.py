"""The closed grammar of the four kinds of spec, as data: the loader checks against it and editors get it as JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .convert import CONVERTERS
from .decode import DECODERS
from .faults import KINDS
from .rules import Anything, Either, Flag, Grammar, Items, Key, Named, Number, Record, Ref, Rule, Text

NAME = r"[a-z][a-z0-9_]{0,39}"
STEM = r"[a-z][a-z0-9_-]{0,39}"
SETTING = r"[A-Z][A-Z0-9_]{1,63}"
IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]*"
DURATION = r"\d+(?:\.\d+)?(?:ms|s|m|h|d)"

expression = Text("expression")
prose = Text("prose", r"\s*\S.*", "say it in a sentence")
name = Text("name", NAME, "lower case, digits and underscores, starting with a letter")
duration = Text("duration", DURATION, "a number with ms, s, m, h or d, like 30s")
values = Named(Ref("value"))
"""Request values: a string is itself, a string that starts with `=` is an expression, null leaves the key out."""

SCALAR_TYPES = ("text", "integer", "number", "boolean", "timestamp", "date", "url", "list", "object", "any")

_value = Either(Anything(scalar=True, means="value"), Items(Ref("value")), Named(Ref("value")))

_converter = Either(
    Text("converter", choices=tuple(CONVERTERS)),
    None,
    Record("a converter", MappingProxyType({n: Key(Anything(), c.doc.split("\n")[0]) for n, c in CONVERTERS.items()})),
)

_field = Either(
    Text("selector"),
    None,
    Record(
        "a field",
        MappingProxyType(
            {
                "at": Key(
                    Either(Text("selector"), Items(Text("selector"), 1)),
                    "A selector, or several of which the first hit wins.",
                ),
                "all": Key(Flag(), "Take every hit as a list, not only the first."),
                "each": Key(Text("selector"), "A selector of nodes; `value` is then read from each of them."),
                "value": Key(Text("selector"), "What is read from each node of `each`."),
                "then": Key(Items(Ref("converter"), 1), "Named converters, applied in order."),
                "else": Key(Anything(), "The value when nothing was found."),
                "when": Key(expression, "The field exists only when this holds."),
                "required": Key(Flag(), "A row without this field is dropped."),
            }
        ),
        one_of=((("at", "each"), True),),
    ),
)

_error = Record(
    "an error rule",
    MappingProxyType(
        {
            "when": Key(expression, "An expression over status, headers, body and text.", required=True),
            "kind": Key(
                Text("kind", choices=(*KINDS, "empty")),
                "The kind of fault, or `empty`: no rows and no fault.",
                required=True,
            ),
            "message": Key(expression, "An expression that gives the sentence; constant text stands in single quotes."),
            "retry_after": Key(
                expression, "Seconds after which a retry may help; the Retry-After header is read anyway."
            ),
        }
    ),
)


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
        keys[word] = Key(Record(f"`{word}`", MappingProxyType(own)), decoder.doc.split("\n")[0])
    return keys


def _option_rule(kind: str) -> Rule:
    rules: dict[str, Rule] = {
        "boolean": Flag(),
        "character": Text("value", r".", "one character"),
        "texts": Items(Text("value"), 1),
        "namespaces": Named(Text("value", r"\S+", "a namespace address"), IDENTIFIER, "a prefix"),
    }
    return rules[kind]


_body = Record(
    "a body",
    MappingProxyType(
        {
            "json": Key(_value, "Sent as JSON; null leaves a key out."),
            "form": Key(values, "Sent as application/x-www-form-urlencoded."),
            "text": Key(Text("value"), "Sent as it is."),
        }
    ),
    one_of=((("json", "form", "text"), True),),
)

_step = Record(
    "a step",
    MappingProxyType(
        {
            "as": Key(name, "The step's name, under which later steps see its rows; `main` when left out."),
            "when": Key(expression, "The step is skipped when this does not hold."),
            "optional": Key(Flag(), "Decoration: its failure leaves the rows as they are."),
            "keep_for": Key(duration, "How long the response may be used again by anyone who sends the same request."),
            "get": Key(Text("path"), "GET this path under the service's base."),
            "post": Key(Text("path"), "POST to this path under the service's base."),
            "headers": Key(values, "Headers of this step."),
            "query": Key(values, "Query parameters of this step."),
            "body": Key(_body, "The body of a POST."),
            **_decoder_keys(),
        }
    ),
    one_of=((("get", "post"), True), (tuple(DECODERS), True)),
)

_operation = Record(
    "an operation",
    MappingProxyType(
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
                Record(
                    "`shard`",
                    MappingProxyType(
                        {
                            "over": Key(Text("name", IDENTIFIER), "The list argument that is split.", required=True),
                            "at_most": Key(Number(1), "How many items one request takes.", required=True),
                            "fits": Key(expression, "Holds when the request is within the upstream's limit."),
                        }
                    ),
                ),
                "Splits a list argument over several runs, so that a limit of the upstream never cuts it; rows are interleaved.",
            ),
            "steps": Key(Items(_step, 1), "The requests, in order.", required=True),
            "rows": Key(
                Record(
                    "`rows`",
                    MappingProxyType(
                        {
                            "from": Key(
                                expression, "The rows that come out; those of the last required step when left out."
                            ),
                            "join": Key(
                                Record(
                                    "`join`",
                                    MappingProxyType(
                                        {
                                            "with": Key(expression, "Rows to take fields from.", required=True),
                                            "on": Key(
                                                Text("name", IDENTIFIER), "The field that both have.", required=True
                                            ),
                                            "take": Key(
                                                Items(Text("name", IDENTIFIER), 1), "The fields to take.", required=True
                                            ),
                                        }
                                    ),
                                ),
                                "Adds fields of other rows with the same key.",
                            ),
                            "nearest": Key(
                                Record(
                                    "`nearest`",
                                    MappingProxyType(
                                        {
                                            "lat": Key(expression, "Latitude of the point, degrees.", required=True),
                                            "lon": Key(expression, "Longitude of the point, degrees.", required=True),
                                            "within": Key(expression, "Drops what is farther, metres."),
                                        }
                                    ),
                                ),
                                "Sorts by distance from a point; rows without lat and lon come last.",
                            ),
                            "keep": Key(expression, "Keeps a row when this holds."),
                            "take": Key(expression, "How many rows at most."),
                        }
                    ),
                ),
                "What comes out, when it is not simply the step's rows.",
            ),
            "meta": Key(
                Named(expression, IDENTIFIER),
                "Facts about the whole answer (`page` is the last document), seen in `_meta`.",
            ),
        }
    ),
)

_auth = Record(
    "`auth`",
    MappingProxyType(
        {
            "bearer": Key(expression, "Authorization: Bearer with this setting."),
            "basic": Key(expression, "HTTP Basic with a setting of the form user:password."),
        }
    ),
    one_of=((("bearer", "basic"), True),),
)

_service = Record(
    "`service`",
    MappingProxyType(
        {
            "base": Key(
                Text("value", r"https://\S+|=.+", "an https URL, or `=config.NAME` of a setting of type url"),
                "The URL that every path starts from.",
                required=True,
            ),
            "hosts": Key(Items(Text("value")), "Hosts that a redirect may lead to besides the base's own."),
            "private": Key(Flag(), "The operator names the host, so it may be private or plain http."),
            "headers": Key(values, "Headers of every step."),
            "extra_headers": Key(expression, "A setting of type headers, added to every step."),
            "query": Key(values, "Query parameters of every step."),
            "auth": Key(_auth, "How the key travels when it is not a plain header or parameter."),
            "limits": Key(
                Record(
                    "`limits`",
                    MappingProxyType(
                        {
                            "rate": Key(
                                Text(
                                    "rate",
                                    r"\d+(?:\.\d+)?/(?:\d+(?:\.\d+)?)?(?:s|min|m|h|d)",
                                    "requests per time, like 3/s or 10/min",
                                ),
                                "Requests per time.",
                            ),
                            "concurrency": Key(Number(1), "Requests at once."),
                            "timeout": Key(duration, "For one request, redirects and body included."),
                            "max_bytes": Key(
                                Text("size", r"\d+(?:\.\d+)?(?:KiB|MiB|KB|MB|B)", "a size like 5MiB"),
                                "Body size after decompression.",
                            ),
                        }
                    ),
                ),
                "What the upstream may be asked, and how much it may answer.",
            ),
            "retry": Key(
                Record(
                    "`retry`",
                    MappingProxyType(
                        {
                            "on": Key(Items(Text("kind", choices=tuple(KINDS)), 1), "Kinds of fault.", required=True),
                            "times": Key(Number(1, 5), "How often at most.", required=True),
                            "wait": Key(
                                duration,
                                "Before the first retry; doubled each time. Retry-After is obeyed when it is longer.",
                            ),
                        }
                    ),
                ),
                "Which faults are worth another try.",
            ),
            "errors": Key(
                Items(_error),
                "Ordered rules; the first that holds decides. A status of 400 or more that no rule names has a default kind.",
            ),
        }
    ),
)

_setting = Record(
    "a setting",
    MappingProxyType(
        {
            "description": Key(prose, "What it is for and where to get it.", required=True),
            "type": Key(
                Text(choices=("text", "boolean", "integer", "number", "url", "headers", "credentials")),
                "How the environment's text is read.",
            ),
            "secret": Key(Flag(), "Never shown, logged or stored."),
            "required": Key(Flag(), "The provider is not configured without it."),
            "default": Key(Anything(scalar=True), "The value when it is not set."),
        }
    ),
)

_tables = Named(Either(None, None, Named(Anything(), "", "")), IDENTIFIER, "a table's name")

_reply = Record(
    "a reply",
    MappingProxyType(
        {
            "status": Key(Number(100, 599), "200 when left out."),
            "headers": Key(Named(Text("value")), "Response headers."),
            "json": Key(Anything(), "The body as JSON."),
            "text": Key(Text("value", r".*"), "The body as text."),
            "fault": Key(Text("kind", choices=tuple(KINDS)), "The request itself fails with this kind."),
        }
    ),
    one_of=((("json", "text", "fault"), False),),
)

_sent = Record(
    "a sent request",
    MappingProxyType(
        {
            "get": Key(Text("value"), "The whole URL, without the query, of a GET."),
            "post": Key(Text("value"), "The whole URL, without the query, of a POST."),
            "query": Key(Named(Anything()), "Every query parameter; null says that it is not sent."),
            "headers": Key(Named(Anything()), "Every header; null says that it is not sent."),
            "json": Key(Anything(), "The whole JSON body."),
            "form": Key(Named(Anything()), "The whole form body."),
            "text": Key(Text("value"), "The whole text body."),
            "times": Key(Number(0), "How often the step was sent, when not once."),
        }
    ),
)

_provider_example = Record(
    "an example",
    MappingProxyType(
        {
            "name": Key(prose, "A sentence about behaviour.", required=True),
            "operation": Key(name, "The operation that is run.", required=True),
            "args": Key(Named(Anything()), "Arguments, as a tool would pass them."),
            "config": Key(Named(Anything(scalar=True), SETTING), "Settings."),
            "now": Key(Text("value"), "The clock, RFC 3339; 2026-01-01T00:00:00Z when left out."),
            "replies": Key(
                Named(Either(None, Items(_reply, 1), _reply)),
                "What the upstream answers, by step; a list for several runs.",
            ),
            "expect": Key(
                Record(
                    "`expect`",
                    MappingProxyType(
                        {
                            "sent": Key(
                                Named(Either(None, Items(_sent, 1), _sent)),
                                "The whole request of each step that is named.",
                            ),
                            "rows": Key(
                                Items(Named(Anything())),
                                "The rows, in order; a field that is named is compared, null says that it is absent.",
                            ),
                            "count": Key(Number(0), "How many rows."),
                            "meta": Key(Named(Anything()), "Facts about the answer."),
                            "error": Key(Text("kind", choices=tuple(KINDS)), "The kind of fault."),
                            "message": Key(Text("value"), "The fault's sentence."),
                            "retry_after": Key(Number(0), "The fault's delay in seconds."),
                        }
                    ),
                ),
                "What must come of it.",
                required=True,
            ),
        }
    ),
)

PROVIDER = Grammar(
    Record(
        "a provider",
        MappingProxyType(
            {
                "spec": Key(Text(choices=("provider/1",)), "provider/1", required=True),
                "name": Key(
                    Text("name", NAME, "lower case, digits and underscores"), "The file's stem.", required=True
                ),
                "title": Key(prose, "The upstream's name, for people.", required=True),
                "homepage": Key(Text("value", r"https?://\S+", "a URL"), "Where its documentation is."),
                "notes": Key(prose, "Why it is odd: the surprise, before the code that handles it."),
                "config": Key(
                    Named(_setting, SETTING, "an environment variable: upper case, digits and underscores"),
                    "The only door to the environment.",
                ),
                "tables": Key(_tables, "Look-up tables, for lookup('name', key)."),
                "service": Key(_service, "What all operations share.", required=True),
                "values": Key(
                    Named(expression, IDENTIFIER, "a value's name"),
                    "Named expressions that several operations use, seen as values.NAME; an operation has those that it names.",
                ),
                "operations": Key(Named(_operation, NAME, "an operation's name"), "What it can do.", required=True),
                "examples": Key(Items(_provider_example), "Run offline, through the code that serves."),
            }
        ),
    ),
    MappingProxyType({"value": _value, "field": _field, "converter": _converter}),
)

_typed = {
    "type": Key(Text(choices=SCALAR_TYPES), "What kind of value.", required=True),
    "description": Key(prose, "What it means; units where there are any.", required=True),
    "enum": Key(Items(Text("value"), 1), "The values that it can have."),
    "items": Key(Text(choices=SCALAR_TYPES), "What a list holds; text when left out."),
    "fields": Key(Named(Text(choices=SCALAR_TYPES), IDENTIFIER), "What an object holds."),
}

CAPABILITY = Grammar(
    Record(
        "a capability",
        MappingProxyType(
            {
                "spec": Key(Text(choices=("capability/1",)), "capability/1", required=True),
                "name": Key(name, "The file's stem.", required=True),
                "title": Key(prose, "For people.", required=True),
                "description": Key(prose, "What a provider of it promises.", required=True),
                "routing": Key(
                    Record(
                        "`routing`",
                        MappingProxyType(
                            {
                                "key": Key(name, "Its key in SEARCH_ROUTING."),
                                "order": Key(
                                    Items(name),
                                    "The order in which configured providers are asked; others are asked only by name.",
                                    required=True,
                                ),
                            }
                        ),
                    ),
                    "Who is asked first.",
                    required=True,
                ),
                "arguments": Key(
                    Named(Record("an argument", MappingProxyType(_typed)), IDENTIFIER),
                    "What a tool may ask of it.",
                    required=True,
                ),
                "row": Key(
                    Named(
                        Record(
                            "a row field",
                            MappingProxyType({**_typed, "required": Key(Flag(), "Every provider maps it.")}),
                        ),
                        IDENTIFIER,
                    ),
                    "What one row holds.",
                    required=True,
                ),
            }
        ),
    ),
)

_input = Record(
    "an input",
    MappingProxyType(
        {
            "type": Key(
                Text(choices=("string", "integer", "number", "boolean", "list")), "What kind of value.", required=True
            ),
            "description": Key(prose, "For the model that calls.", required=True),
            "required": Key(Flag(), "The call is refused without it."),
            "default": Key(Anything(), "The value when it is left out."),
            "enum": Key(
                Either(
                    Text("name", "lenses|providers\\." + NAME, "lenses or providers.CAPABILITY"),
                    Items(Text("value"), 1),
                ),
                "The values that it can have; `lenses` or `providers.CAPABILITY` for a catalogue.",
            ),
            "open": Key(Flag(), "The enum is not published: values are checked by name at the call."),
            "minimum": Key(Number(whole=False), "Least value."),
            "maximum": Key(Number(whole=False), "Largest value."),
            "clamp": Key(Flag(), "Values outside are moved to the bound, and the answer says so."),
            "min_length": Key(Number(0), "Least number of characters after trimming."),
            "max_length": Key(Number(1), "Most characters."),
            "pattern": Key(Text("value"), "A regular expression that the whole text matches."),
            "says": Key(prose, "What the pattern wants, in words."),
            "max_items": Key(Number(1), "Most items of a list."),
        }
    ),
)

_fallback = Either(Text(choices=("next", "stop")), None, None)
_on = Named(_fallback, "empty|error|" + "|".join(KINDS), "`empty`, `error` or a kind of fault")

_call_keys = {
    "operation": Key(Text("name", NAME), "The operation, which is a capability's name.", required=True),
    "with": Key(values, "Arguments that differ from the tool's inputs; the rest is passed by name."),
}

_strategy = Record(
    "a strategy",
    MappingProxyType(
        {
            "name": Key(prose, "What it does, in words.", required=True),
            "when": Key(expression, "The strategy is skipped when this does not hold."),
            "call": Key(
                Record(
                    "`call`",
                    MappingProxyType(
                        {"provider": Key(Text("value"), "The one provider that is asked.", required=True), **_call_keys}
                    ),
                ),
                "Ask one provider and no other.",
            ),
            "first_of": Key(
                Record(
                    "`first_of`",
                    MappingProxyType(
                        {
                            "providers": Key(Text("value"), "Who is asked, in order.", required=True),
                            **_call_keys,
                            "again": Key(
                                Record(
                                    "`again`",
                                    MappingProxyType(
                                        {
                                            "when": Key(
                                                expression,
                                                "Ask the same provider once more; `rows` is what it gave.",
                                                required=True,
                                            ),
                                            "with": Key(values, "What differs.", required=True),
                                        }
                                    ),
                                ),
                                "A second try with the same provider, kept only when it gives more.",
                            ),
                        }
                    ),
                ),
                "Ask in order until one answers.",
            ),
            "gather": Key(
                Record(
                    "`gather`",
                    MappingProxyType(
                        {"providers": Key(Text("value"), "Who is asked, all at once.", required=True), **_call_keys}
                    ),
                ),
                "Ask several at once and interleave their rows.",
            ),
            "hook": Key(
                Record(
                    "`hook`",
                    MappingProxyType(
                        {"name": Key(name, "A registered hook.", required=True), "with": Key(values, "Its parameters.")}
                    ),
                ),
                "Registered Python makes the rows.",
            ),
            "on": Key(_on, "What a fault or an empty answer leads to: `next` or `stop`."),
        }
    ),
    one_of=((("call", "first_of", "gather", "hook"), True),),
)

_stage = Record(
    "a stage",
    MappingProxyType(
        {
            "keep": Key(expression, "Keeps a row when this holds."),
            "drop": Key(expression, "Drops a row when this holds."),
            "dedupe": Key(
                Record(
                    "`dedupe`",
                    MappingProxyType(
                        {
                            "by": Key(
                                Items(Text("name", IDENTIFIER), 1),
                                "Rows that share one of these fields are one; the first stays.",
                                required=True,
                            )
                        }
                    ),
                ),
                "One row for each thing.",
            ),
            "sort": Key(
                Record(
                    "`sort`",
                    MappingProxyType(
                        {
                            "by": Key(Text("name", IDENTIFIER), "The field.", required=True),
                            "descending": Key(Flag(), "Largest first."),
                            "when": Key(expression, "Only then."),
                        }
                    ),
                ),
                "A stable sort; rows without the field come last.",
            ),
            "take": Key(expression, "How many rows at most."),
            "enrich": Key(
                Record(
                    "`enrich`",
                    MappingProxyType(
                        {
                            "hook": Key(name, "A registered hook.", required=True),
                            "with": Key(values, "Its parameters."),
                            "when": Key(expression, "Only then."),
                            "optional": Key(Flag(), "Its failure leaves the rows as they are."),
                        }
                    ),
                ),
                "A hook adds fields to the rows.",
            ),
        }
    ),
    one_of=((("keep", "drop", "dedupe", "sort", "take", "enrich"), True),),
)

_answer_value = Either(
    Text("value"),
    None,
    Record(
        "an answer's list",
        MappingProxyType(
            {
                "each": Key(expression, "The rows.", required=True),
                "map": Key(Named(Ref("field"), IDENTIFIER), "Fields of each.", required=True),
            }
        ),
    ),
)

_tool_example = Record(
    "an example",
    MappingProxyType(
        {
            "name": Key(prose, "A sentence about behaviour.", required=True),
            "args": Key(Named(Anything()), "Arguments as a model would send them.", required=True),
            "config": Key(Named(Anything(scalar=True), SETTING), "The environment."),
            "providers": Key(
                Named(
                    Record(
                        "a provider's part",
                        MappingProxyType(
                            {
                                "rows": Key(Items(Named(Anything())), "The rows it gives."),
                                "error": Key(Text("kind", choices=tuple(KINDS)), "The fault it answers with."),
                                "sent": Key(Named(Anything()), "Arguments that it must be given; null says absent."),
                                "meta": Key(Named(Anything()), "Facts about its answer."),
                                "again": Key(Items(Named(Anything())), "The rows of a second call."),
                            }
                        ),
                    ),
                    NAME + r"\." + NAME,
                    "PROVIDER.OPERATION",
                ),
                "What each provider answers; one that is not named is not configured.",
            ),
            "refuse": Key(
                Items(Named(Anything()), 1),
                "Arguments that are laid over `args` one after the other; each makes a call that is refused as invalid. "
                "{characters: N} stands for a text of that length.",
            ),
            "accept": Key(
                Items(Named(Anything()), 1),
                "Arguments that are laid over `args` one after the other; each makes a call that is taken as it is.",
            ),
            "expect": Key(
                Record(
                    "`expect`",
                    MappingProxyType(
                        {
                            "served_by": Key(name, "Who answered."),
                            "tried": Key(Items(name), "Who was asked, in order."),
                            "rows": Key(Items(Named(Anything())), "The rows, as in a provider's example."),
                            "count": Key(Number(0), "How many rows."),
                            "answer": Key(Named(Anything()), "Keys of the answer; null says absent."),
                            "hints": Key(
                                Anything(), "The reason of the hints, or the whole of them; null says absent."
                            ),
                            "meta": Key(Named(Anything()), "Keys of `_meta`."),
                            "error": Key(Text("kind", choices=tuple(KINDS)), "The kind of fault."),
                            "message": Key(Text("value"), "The fault's sentence."),
                        }
                    ),
                ),
                "What must come of it.",
                
            ),
        }
    ),
    one_of=((("expect", "refuse"), False), (("expect", "accept"), False)),
)

TOOL = Grammar(
    Record(
        "a tool",
        MappingProxyType(
            {
                "spec": Key(Text(choices=("tool/1",)), "tool/1", required=True),
                "name": Key(name, "The file's stem, and the tool's name.", required=True),
                "title": Key(prose, "For people.", required=True),
                "description": Key(
                    prose, "For the model: when to use it, what it returns, when not to.", required=True
                ),
                "toolsets": Key(Items(name), "Toolsets besides that of its folder."),
                "annotations": Key(
                    Record(
                        "`annotations`",
                        MappingProxyType(
                            {
                                "read_only": Key(Flag(), "It changes nothing.", required=True),
                                "destructive": Key(Flag(), "It may destroy.", required=True),
                                "idempotent": Key(Flag(), "Twice is as once.", required=True),
                                "open_world": Key(Flag(), "It reaches outside.", required=True),
                            }
                        ),
                    ),
                    "The four hints of MCP.",
                    required=True,
                ),
                "config": Key(Named(_setting, SETTING), "Settings of the tool itself."),
                "input": Key(Named(_input, IDENTIFIER), "Its arguments.", required=True),
                "checks": Key(
                    Items(
                        Record(
                            "a check",
                            MappingProxyType(
                                {
                                    "refuse_when": Key(
                                        expression, "The call is refused when this holds.", required=True
                                    ),
                                    "message": Key(expression, "The sentence.", required=True),
                                }
                            ),
                        )
                    ),
                    "What no single input can say.",
                ),
                "cache": Key(
                    Record(
                        "`cache`",
                        MappingProxyType(
                            {
                                "ttl": Key(duration, "How long an answer stays good.", required=True),
                                "shape": Key(Number(1), "Raised when the answer's shape changes.", required=True),
                                "ignore": Key(Items(Text("name", IDENTIFIER)), "Inputs that provably change nothing."),
                                "unless": Key(expression, "Answers that are not kept."),
                                "always_say": Key(
                                    Flag(), "Freshness is in `_meta` of new answers too, not only of kept ones."
                                ),
                            }
                        ),
                    ),
                    "How long and under which key answers are kept; without it they are not.",
                ),
                "tables": Key(_tables, "Look-up tables."),
                "values": Key(Named(expression, IDENTIFIER), "Named expressions, seen as values.NAME."),
                "deadline": Key(duration, "For the whole call; 60s when left out."),
                "plan": Key(Items(_strategy, 1), "Strategies, in order, until one answers.", required=True),
                "after": Key(Items(_stage), "What happens to the rows."),
                "hints": Key(
                    Record(
                        "`hints`",
                        MappingProxyType(
                            {
                                "filters": Key(
                                    Items(Text("name", IDENTIFIER), 1),
                                    "Inputs that narrow the search, the most restrictive first.",
                                    required=True,
                                ),
                                "always": Key(
                                    Items(Text("name", IDENTIFIER)),
                                    "Inputs that are listed even when they have their default.",
                                ),
                                "also": Key(
                                    Items(
                                        Record(
                                            "advice",
                                            MappingProxyType(
                                                {
                                                    "when": Key(expression, "Holds.", required=True),
                                                    "reason": Key(name, "Replaces the reason."),
                                                    "action": Key(name, "What to do.", required=True),
                                                    "parameter": Key(name, "With which input."),
                                                    "detail": Key(prose, "In a sentence.", required=True),
                                                }
                                            ),
                                        )
                                    ),
                                    "Advice for special cases.",
                                ),
                            }
                        ),
                    ),
                    "What an empty answer says.",
                ),
                "answer": Key(
                    Named(_answer_value, IDENTIFIER),
                    "What is returned; the output schema is derived from it.",
                    required=True,
                ),
                "record": Key(
                    Record(
                        "`record`",
                        MappingProxyType(
                            {
                                "session": Key(
                                    Text("name", IDENTIFIER),
                                    "The input that names the research session.",
                                    required=True,
                                ),
                                "as": Key(name, "What kind of source the rows are.", required=True),
                            }
                        ),
                    ),
                    "Sources go to the caller's session; this never changes the answer.",
                ),
                "examples": Key(Items(_tool_example), "Run offline, through the code that serves."),
            }
        ),
    ),
    MappingProxyType({"value": _value, "field": _field, "converter": _converter}),
)

LENS = Grammar(
    Record(
        "a lens",
        MappingProxyType(
            {
                "spec": Key(Text(choices=("lens/1",)), "lens/1", required=True),
                "name": Key(Text("name", STEM), "The file's stem.", required=True),
                "title": Key(prose, "For people.", required=True),
                "description": Key(prose, "What it is for, in one line.", required=True),
                "notes": Key(prose, "What is odd about it."),
                "domains": Key(
                    Items(
                        Text(
                            "host",
                            r"[a-z0-9.-]+\.[a-z]{2,}(?:/[A-Za-z0-9._~/-]*)?",
                            "a host or host/path, without a scheme",
                        )
                    ),
                    "Sites, the most important first.",
                ),
                "goggle": Key(
                    Text("value", r"https://\S+", "an https URL"), "A re-ranking file, for engines that take one."
                ),
                "engine": Key(Text("value"), "The id of a dedicated search engine, for engines that take one."),
                "example": Key(
                    Record(
                        "`example`",
                        MappingProxyType(
                            {
                                "query": Key(Text("value"), "What is asked.", required=True),
                                "makes": Key(
                                    Items(Text("value"), 1),
                                    "The queries it makes for an engine that takes ten sites.",
                                    required=True,
                                ),
                            }
                        ),
                    ),
                    "The query it makes.",
                    required=True,
                ),
            }
        ),
    ),
)

GRAMMARS: Mapping[str, Grammar] = MappingProxyType(
    {"provider": PROVIDER, "capability": CAPABILITY, "tool": TOOL, "lens": LENS}
)
"""The grammar of each kind of spec, by the word before the slash in its first key."""
