"""How the examples of providers and of tools are written."""

from __future__ import annotations

from specloom.core import KINDS

from .common import NAME, SETTING, name, prose, record
from .rules import Anything, Either, Items, Key, Named, Number, Text

_reply = record(
    "a reply",
    {
        "status": Key(Number(100, 599), "200 when left out."),
        "headers": Key(Named(Text("value")), "Response headers."),
        "json": Key(Anything(), "The body as JSON."),
        "text": Key(Text("value", r".*"), "The body as text."),
        "fault": Key(Text("kind", choices=tuple(KINDS)), "The request itself fails with this kind."),
    },
    one_of=((("json", "text", "fault"), False),),
)

_sent = record(
    "a sent request",
    {
        "get": Key(Text("value"), "The whole URL, without the query, of a GET."),
        "post": Key(Text("value"), "The whole URL, without the query, of a POST."),
        "query": Key(Named(Anything()), "Every query parameter; null says that it is not sent."),
        "headers": Key(Named(Anything()), "Every header; null says that it is not sent."),
        "json": Key(Anything(), "The whole JSON body."),
        "form": Key(Named(Anything()), "The whole form body."),
        "text": Key(Text("value"), "The whole text body."),
        "times": Key(Number(0), "How often the step was sent, when not once."),
    },
)

_expect = record(
    "`expect`",
    {
        "sent": Key(Named(Either(None, Items(_sent, 1), _sent)), "The whole request of each step that is named."),
        "rows": Key(
            Items(Named(Anything())),
            "The rows, in order; a field that is named is compared, null says that it is absent.",
        ),
        "count": Key(Number(0), "How many rows."),
        "meta": Key(Named(Anything()), "Facts about the answer."),
        "error": Key(Text("kind", choices=tuple(KINDS)), "The kind of fault."),
        "message": Key(Text("value"), "The fault's sentence."),
        "retry_after": Key(Number(0), "The fault's delay in seconds."),
    },
)

provider_example = record(
    "an example",
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
        "expect": Key(_expect, "What must come of it.", required=True),
    },
)

_part = record(
    "a provider's part",
    {
        "rows": Key(Items(Named(Anything())), "The rows it gives."),
        "error": Key(Text("kind", choices=tuple(KINDS)), "The fault it answers with."),
        "sent": Key(Named(Anything()), "Arguments that it must be given; null says absent."),
        "meta": Key(Named(Anything()), "Facts about its answer."),
        "again": Key(Items(Named(Anything())), "The rows of a second call."),
    },
)

_page = record(
    "a page",
    {
        "status": Key(Number(100, 599), "200 when left out."),
        "headers": Key(Named(Text("value")), "Response headers; `content-type` is text/html when left out."),
        "json": Key(Anything(), "The body as JSON."),
        "text": Key(Text("value", r".*"), "The body as text."),
        "fault": Key(Text("kind", choices=tuple(KINDS)), "The request itself fails with this kind."),
        "times": Key(Number(1), "How often the text stands in the body, when not once."),
        "accept": Key(Text("value"), "Only for requests whose `Accept` has this in it."),
        "method": Key(Text(choices=("GET", "HEAD", "POST")), "Only for requests of this method."),
    },
    one_of=((("json", "text", "fault"), False),),
)

_item = {
    "in": Key(name, "The collection.", required=True),
    "key": Key(Text("value"), "Under which key.", required=True),
    "value": Key(Anything(), "What it says.", required=True),
    "space": Key(Text("value"), "The shared place, where the collection is shared."),
    "owner": Key(Text("value"), "Whose it is, when somebody else's."),
}

_kept = record(
    "a kept item",
    {**_item, "times": Key(Number(1, 10_000), "How many, when not one; `{number}` in the key is the number of each.")},
)

_left = record("an item that is left", {**_item, "lasts": Key(Number(0), "For how many seconds it is kept from now.")})

_tool_example_expect = record(
    "`expect`",
    {
        "served_by": Key(name, "Who answered."),
        "tried": Key(Items(name), "Who was asked, in order."),
        "rows": Key(Items(Named(Anything())), "The rows, as in a provider's example."),
        "count": Key(Number(0), "How many rows."),
        "answer": Key(Named(Anything()), "Keys of the answer; null says absent."),
        "hints": Key(Anything(), "The reason of the hints, or the whole of them; null says absent."),
        "meta": Key(Named(Anything()), "Keys of `_meta`."),
        "link": Key(Anything(), "What is told of an answer that is linked; null says that it is inlined."),
        "error": Key(Text("kind", choices=tuple(KINDS)), "The kind of fault."),
        "message": Key(Text("value"), "The fault's sentence."),
        "kept": Key(
            Items(_left, 1), "Items that are kept afterwards; of a value, the fields that are named, null says absent."
        ),
    },
)

_earlier = record(
    "an earlier call",
    {
        "tool": Key(name, "Which tool; this one when left out."),
        "args": Key(
            Named(Anything()), "Its arguments; {characters: N} stands for a text of that length.", required=True
        ),
        "owner": Key(Text("value"), "Who called, when somebody else did."),
        "providers": Key(
            Named(Either(None, Items(_part, 1), _part), NAME + r"\." + NAME, "PROVIDER.OPERATION"),
            "What each provider answered, when not the same.",
        ),
    },
)

_files = record(
    "many files",
    {
        "times": Key(Number(1, 1000), "How many.", required=True),
        "of": Key(Text("value", r".*"), "The text of each, with its number for `{number}`.", required=True),
    },
)

tool_example = record(
    "an example",
    {
        "name": Key(prose, "A sentence about behaviour.", required=True),
        "args": Key(Named(Anything()), "Arguments as a model would send them.", required=True),
        "config": Key(Named(Anything(scalar=True), SETTING), "The environment."),
        "owner": Key(Text("value"), "Who calls; nobody in particular when left out."),
        "state": Key(Items(_kept, 1), "What is kept already, of what procedures keep."),
        "files": Key(
            Named(
                Either(Text("value", r".*"), None, _files),
                r"(?!.*\.\.)[A-Za-z0-9._{}-]+(?:/[A-Za-z0-9._{}-]+)*",
                "a path below a folder",
            ),
            "Files that are there already, in a folder of the example for which `{folder}` stands in `args` and "
            "`config`; of many, `{number}` in the path is the number of each, from 0.",
        ),
        "before": Key(
            Items(_earlier, 1),
            "Calls that come first, with the same providers, pages and clock; what they keep is there for this one.",
        ),
        "providers": Key(
            Named(Either(None, Items(_part, 1), _part), NAME + r"\." + NAME, "PROVIDER.OPERATION"),
            "What each provider answers; one that is not named is not configured. Of a list, the first part whose "
            "`sent` fits what is asked.",
        ),
        "pages": Key(
            Named(Either(None, Items(_page, 1), _page), r"https?://\S+", "a URL"),
            "What each URL gives to a procedure that reads it, with its query; one that is not named does not resolve.",
        ),
        "refuse": Key(
            Items(Named(Anything()), 1),
            "Arguments that are laid over `args` one after the other; each makes a call that is refused as invalid. "
            "{characters: N} stands for a text of that length, {times: N, of: X} for a list of so many.",
        ),
        "accept": Key(
            Items(Named(Anything()), 1),
            "Arguments that are laid over `args` one after the other; each makes a call that is taken as it is.",
        ),
        "expect": Key(_tool_example_expect, "What must come of it."),
    },
    one_of=((("expect", "refuse"), False), (("expect", "accept"), False)),
)
