"""How a spec says what all operations of a provider share, and which answers are faults."""

from __future__ import annotations

from .faults import KINDS
from .grammar_words import ABOVE_ZERO, SETTING, duration, expression, headers, record, values
from .rules import Flag, Items, Key, Named, Number, Text

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
