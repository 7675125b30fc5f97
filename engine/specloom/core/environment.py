"""The engine's own environment variables, as data; what a provider or a tool reads is declared in its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Kind = Literal["text", "boolean", "integer", "number", "choice"]


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable that the engine reads: what it is for, how its text is read, and what holds when it is not set."""

    name: str
    description: str
    kind: Kind = "text"
    default: str | int | float | bool | None = None
    otherwise: str = ""
    """What holds when it is not set, in words, where `default` cannot say it."""
    choices: tuple[str, ...] = ()
    secret: bool = False


class VariableError(ValueError):
    """A variable that cannot be read as its kind: one sentence with what to write."""


def _declare(*variables: Variable) -> Mapping[str, Variable]:
    return MappingProxyType({one.name: one for one in variables})


VARIABLES = _declare(
    Variable(
        "SPECLOOM_PATH",
        "Folders of your own specs, layered over the shipped ones; a later folder replaces what has the same kind and "
        "name. Parted by `:`, on Windows by `;`; each has the subfolders `providers.d`, `tools.d`, `lenses`, "
        "`collections.d` and `resources.d`.",
        otherwise="the user's configuration folder for specloom, if there is one",
    ),
    Variable(
        "SPECLOOM_TOOLSETS",
        "Comma list of the toolsets whose tools are published; a toolset is a folder of `tools.d`, a name that tools "
        "give under `toolsets`, or `all`.",
        default="research",
    ),
    Variable(
        "SPECLOOM_OUTPUT_SCHEMAS",
        "How much of the schemas of answers the list of tools has: every key, the keys at the top, or nothing. Answers "
        "stay the same; a host that shows the schemas to its model pays for every word of them.",
        "choice",
        "full",
        choices=("full", "brief", "none"),
    ),
    Variable(
        "SEARCH_ROUTING",
        "Who is asked, in which order: a comma list of providers for everything, or a JSON object of comma lists by "
        'routing key, such as `{"web": "a,b", "default": "a"}`. Names that cannot be asked are left out, and the '
        "log says so.",
        otherwise="each capability's own order",
    ),
    Variable(
        "SEARCH_PROVIDER",
        "The one provider that is asked for every capability it offers, where SEARCH_ROUTING names none.",
        otherwise="each capability's own order",
    ),
    Variable("SPECLOOM_CACHE", "Whether answers are kept at all.", "boolean", True),
    Variable(
        "SPECLOOM_CACHE_DIR",
        "Where kept answers and the key file are, encrypted.",
        otherwise="the user's cache folder for specloom",
    ),
    Variable(
        "SPECLOOM_CACHE_KEY",
        "The key that seals what is kept on disk: 64 hex digits, or 32 bytes in base64.",
        otherwise="the file `cache.key` in the cache folder, made when it is missing",
        secret=True,
    ),
    Variable(
        "SPECLOOM_CACHE_KEY_PREVIOUS",
        "The key that was used before; what it sealed is read with it and sealed anew when it is next written.",
        secret=True,
    ),
    Variable(
        "SPECLOOM_STATE_DIR",
        "Where sessions and everything else that the server remembers is, encrypted. Not with the cache, which may be "
        "deleted at any time.",
        otherwise="where the system keeps what programs remember, under specloom",
    ),
    Variable("SPECLOOM_STATE_MAX_MB", "How large that may become, in megabytes.", "integer", 2048),
    Variable(
        "STDIO_USER_ID",
        "Who the one user of a server on standard input is: letters, digits and . _ @ -. What is kept of a person is "
        "kept only for somebody who is named, and naming yourself counts as your consent to it.",
        otherwise="nobody in particular",
    ),
    Variable("AUDIT_ENABLED", "Whether each call is written to the audit log.", "boolean", True),
    Variable("AUDIT_OUTPUT_PATH", "The audit log.", otherwise="`audit.jsonl` in the folder of the state"),
    Variable("AUDIT_MAX_BYTES", "How large one file of the audit log may become.", "integer", 104_857_600),
    Variable(
        "AUDIT_RETENTION_DAYS",
        "How many days a record of the audit log is kept, 180 to 3650; 0 keeps everything.",
        "integer",
        180,
    ),
    Variable(
        "AUDIT_INCLUDE_REQUEST_BODY",
        "Whether the audit log has a digest of each query, by which equal ones are told; never the query itself.",
        "boolean",
        False,
    ),
    Variable(
        "CACHE_ISOLATION",
        "Whether tenants share kept answers (`shared`) or each has its own (`tenant`).",
        "choice",
        "shared",
        choices=("shared", "tenant"),
    ),
    Variable(
        "CIRCUIT_FAILURE_THRESHOLD",
        "After how many failures in a row a provider is given a rest.",
        "integer",
        5,
    ),
    Variable("CIRCUIT_RESET_TIMEOUT_SECONDS", "How long that rest lasts, in seconds.", "number", 60),
    Variable(
        "SPECLOOM_ALLOW_PRIVATE",
        "Lets requests go to private, loopback and link-local addresses. Only for development: a provider whose host "
        "the operator names needs no such leave.",
        "boolean",
        False,
    ),
    Variable(
        "SPECLOOM_VALIDATE",
        "Holds each answer against the tool's published output schema before it is sent.",
        "boolean",
        False,
    ),
    Variable(
        "SPECLOOM_LOG",
        "How much is said on standard error; `debug` adds the traceback of a defect.",
        "choice",
        otherwise="one sentence for what went wrong",
        choices=("debug",),
    ),
)
"""Every variable by name, in the order in which the reference lists them."""


def read_variable(name: str, environ: Mapping[str, str]) -> str | int | float | bool | None:
    """The value of a variable in its kind, or its default when it is not set; a wrong text is a VariableError."""
    variable = VARIABLES[name]
    text = environ.get(name, "").strip()
    if not text:
        return variable.default
    if variable.kind == "boolean":
        if text.lower() in {"1", "true", "yes", "on"}:
            return True
        if text.lower() in {"0", "false", "no", "off"}:
            return False
        raise VariableError(f"{name} is {text!r}; write true or false")
    if variable.kind == "choice":
        if text.lower() not in variable.choices:
            raise VariableError(f"{name} is {text!r}; write one of {', '.join(variable.choices)}")
        return text.lower()
    if variable.kind in ("integer", "number"):
        return _to_number(variable, text)
    return text


def _to_number(variable: Variable, text: str) -> int | float:
    try:
        number = int(text) if variable.kind == "integer" else float(text)
    except ValueError:
        number = -1
    if not 0 < number < 1_000_000:
        wanted = "a whole number" if variable.kind == "integer" else "a number"
        raise VariableError(f"{variable.name} is {text!r}; write {wanted} above 0")
    return number
