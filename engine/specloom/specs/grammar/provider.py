"""The grammar of provider files."""

from __future__ import annotations

from specloom.core import KINDS
from specloom.language import DECODERS

from .common import (
    ABOVE_ZERO,
    IDENTIFIER,
    NAME,
    SETTING,
    SHARED,
    duration,
    expression,
    headers,
    name,
    prose,
    record,
    setting,
    tables,
    value,
    values,
)
from .examples import provider_example
from .rules import Flag, Grammar, Items, Key, Named, Number, Rule, RuleReference, Text

# --- How a spec says what all operations of a provider share, and which answers are faults ----------------------------


error = record(
    "an error rule",
    {
        "when": Key(expression, "An expression over status, headers, body and text.", required=True),
        "kind": Key(
            Text("kind", choices=(*KINDS, "empty")),
            "The kind of fault, or `empty`: no rows and no fault.",
            required=True,
        ),
        "message": Key(expression, "An expression that gives the sentence; constant text stands in single quotes."),
        "retry_after": Key(expression, "Seconds after which a retry may help; the Retry-After header is read anyway."),
    },
)

_client_credentials = record(
    "`client_credentials`",
    {
        "url": Key(
            Text("value", r"https://\S+|/(?!/)[^\s?#{}]*", "an https URL, or a path under the service's base"),
            "Where a token is asked for: an address, or a path under the service's base.",
            required=True,
        ),
        "id": Key(expression, "A setting with the client's id.", required=True),
        "secret": Key(expression, "A setting with the client's secret.", required=True),
        "scope": Key(Text("value"), "The scope that is asked for."),
    },
)

_scheme = record(
    "`scheme`",
    {
        "word": Key(
            Text("value", r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", "one word"), "What stands before the key.", required=True
        ),
        "key": Key(expression, "A setting with the key.", required=True),
        "secret": Key(expression, "A setting with the secret that follows the key behind a colon; both or neither."),
    },
)

_auth = record(
    "`auth`",
    {
        "bearer": Key(expression, "Authorization: Bearer with this setting."),
        "basic": Key(expression, "HTTP Basic with a setting of the form user:password."),
        "scheme": Key(_scheme, "Authorization with another word before a setting, like Token."),
        "client_credentials": Key(
            _client_credentials, "A token in exchange for credentials (OAuth 2.0), kept in memory while it is good."
        ),
    },
    one_of=((("bearer", "basic", "scheme", "client_credentials"), True),),
)

_rate = Text(
    "rate", rf"{ABOVE_ZERO}/(?:{ABOVE_ZERO})?(?:s|min|m|h|d)", "requests per time above none, like 3/s or 10/min"
)

_limits = record(
    "`limits`",
    {
        "rate": Key(_rate, "Requests per time."),
        "with": Key(
            Named(_rate, SETTING, "a setting's name"),
            "The rate that holds instead when this setting has a value; the first decides.",
        ),
        "concurrency": Key(Number(1), "Requests at once."),
        "timeout": Key(duration, "For one request, redirects and body included."),
        "max_bytes": Key(
            Text("size", rf"{ABOVE_ZERO}(?:KiB|MiB|KB|MB|B)", "a size like 5MiB"), "Body size after decompression."
        ),
    },
)

_retry = record(
    "`retry`",
    {
        "on": Key(Items(Text("kind", choices=tuple(KINDS)), 1), "Kinds of fault.", required=True),
        "times": Key(Number(1, 5), "How often at most.", required=True),
        "wait": Key(duration, "Before the first retry; doubled each time. A Retry-After of up to 10 s is obeyed."),
    },
)

service = record(
    "`service`",
    {
        "base": Key(
            Text("value", r"https://\S+|=.+", "an https URL, or `=config.NAME` of a setting of type url"),
            "The URL that every path starts from.",
            required=True,
        ),
        "hosts": Key(Items(Text("value")), "Hosts that a redirect may lead to besides the base's own."),
        "private": Key(Flag(), "The operator names the host, so it may be private or plain http."),
        "headers": Key(headers, "Headers of every step."),
        "extra_headers": Key(expression, "A setting of type headers, added to every step."),
        "query": Key(values, "Query parameters of every step."),
        "auth": Key(_auth, "How the key travels when it is not a plain header or parameter."),
        "limits": Key(_limits, "What the upstream may be asked, and how much it may answer."),
        "retry": Key(_retry, "Which faults are worth another try."),
        "errors": Key(
            Items(error),
            "Ordered rules; the first that holds decides. "
            "A status of 400 or more that no rule names has a default kind.",
        ),
    },
)


# --- How a spec says what one operation asks, and how it reads the answer ---------------------------------------------


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
                Named(RuleReference("field"), IDENTIFIER, "a field name is an identifier"),
                "Row fields and where they come from.",
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


_provider = record(
    "a provider",
    {
        "spec": Key(Text(choices=("provider/1",)), "provider/1", required=True),
        "name": Key(Text("name", NAME, "lower case, digits and underscores"), "The file's stem.", required=True),
        "title": Key(prose, "The upstream's name, for people.", required=True),
        "homepage": Key(Text("value", r"https?://\S+", "a URL"), "Where its documentation is."),
        "notes": Key(prose, "Why it is odd: the surprise, before the code that handles it."),
        "config": Key(
            Named(setting, SETTING, "an environment variable: upper case, digits and underscores"),
            "The only door to the environment.",
        ),
        "tables": Key(tables, "Look-up tables, for lookup('name', key)."),
        "service": Key(service, "What all operations share.", required=True),
        "values": Key(
            Named(expression, IDENTIFIER, "a value's name"),
            "Named expressions that several operations use, seen as values.NAME; an operation has those that it names.",
        ),
        "operations": Key(Named(operation, NAME, "an operation's name"), "What it can do.", required=True),
        "examples": Key(Items(provider_example), "Run offline, through the code that serves."),
    },
)

PROVIDER = Grammar(_provider, SHARED)
