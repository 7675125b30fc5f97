"""What every command of the command line is made of: where it speaks, how arguments are read, what it works on."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from specloom.core import Fault, Paint, columns, fault_line, own_words, project_folder, to_json

from .exits import PROBLEMS, USAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from specloom.core import Diagnostic
    from specloom.model import Model, Tool
    from specloom.plugins import StoragePlace
    from specloom.runtime import Executor


NOT_ALLOWED, LATER = 3, 75

EXITS: Mapping[str, int] = {
    **dict.fromkeys(("validation", "bad_request"), USAGE),
    **dict.fromkeys(("config", "auth_required", "not_in_plan", "blocked"), NOT_ALLOWED),
    **dict.fromkeys(("rate_limited", "network", "upstream_unavailable", "circuit_open"), LATER),
}
"""What a call that failed exits with, by the kind of its fault; any other is PROBLEMS."""


class CommandError(Exception):
    """The command cannot go on, mostly because it is not written as it should be; one sentence, and the exit code."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(message)
        self.code = code


@contextlib.contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Where a file cannot be written, the sentence that says so."""
    try:
        yield
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}", PROBLEMS) from None


def create(path: str | Path, text: str, mode: int = 0o666) -> None:
    """Write a new file; one that is there is not overwritten."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with writing(path):
        try:
            file = os.fdopen(os.open(path, flags, mode), "w", encoding="utf-8")
        except FileExistsError:
            message = f"{path} exists and is not overwritten; choose another name or remove it"
            raise CommandError(message) from None
        with file:
            file.write(text)


def say(text: str) -> None:
    """One line of the answer."""
    sys.stdout.write(text + "\n")


def tell(text: str) -> None:
    """One line beside the answer, for the person."""
    sys.stderr.write(own_words(text) + "\n")


def tell_fault(fault: Fault) -> None:
    """Why there is no answer, and what a person may look at."""
    tell(f"specloom: {fault_line(fault)}")
    if "not be reached" in fault.message or "cannot be reached" in fault.message:
        tell("  look at the network or a firewall; `specloom doctor --reach` shows which providers can be reached")


def answer(
    data: Callable[[], Any], lines: Callable[[Paint, int], Sequence[str]], *, as_json: bool, code: int = 0
) -> int:
    """Print what was found: as JSON, or in lines for a terminal of this width; the exit code."""
    say(to_json(data()) if as_json else "\n".join(lines(Paint(sys.stdout, os.environ), columns())))
    return code


def find_tool(executor: Executor, name: str) -> Tool:
    """The tool of a command line; CommandError, with the name that it is most like, where there is none."""
    try:
        return executor.tool(name)
    except Fault as fault:
        said = fault.message if "did you mean" in fault.message else f"{fault.message}; `specloom list tools` has them"
        # It may be there, and left out for its errors.
        is_whole = not any("`specloom check`" in one for one in executor.problems)
        raise CommandError(said, USAGE if is_whole else PROBLEMS) from None


def to_pairs(words: Sequence[str]) -> list[tuple[str, str]]:
    """Words as pairs: `KEY=VALUE`, or `KEY@FILE` for the text of a file (`-` for what is piped in)."""
    pairs = []
    for word in words:
        name, equals, value = word.partition("=")
        file = name.partition("@")
        if file[0] and file[1]:
            pairs.append((file[0], _read_text(word[len(file[0]) + 1 :])))
        elif name and equals:
            pairs.append((name, value))
        else:
            raise CommandError(f"{word!r} is not an argument; write KEY=VALUE, such as query='sea otters', or KEY@FILE")
    return pairs


def _read_text(path: str) -> str:
    try:
        if path == "-":
            return sys.stdin.read()
        with open(path, encoding="utf-8-sig") as file:  # noqa: PTH123 - pathlib takes longer to import than this takes
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise CommandError(f"{path} cannot be read: {reason}") from None


def to_raw(tool: Tool, words: Sequence[str]) -> dict[str, Any]:
    """Arguments of a tool from the command line: text as it is, lists by repetition, JSON where no text is wanted."""
    from specloom.core import parse_json

    raw: dict[str, Any] = {}
    for name, value in to_pairs(words):
        kind = tool.inputs[name].kind if name in tool.inputs else "string"
        if kind == "list":
            parsed = parse_json(value)
            raw[name] = [*raw.get(name, []), *(parsed if isinstance(parsed, list) else [value])]
            continue
        if name in raw:
            raise CommandError(f"{name} is given twice, and {tool.name} takes it once")
        parsed = None if kind == "string" else parse_json(value)
        raw[name] = value if parsed is None else parsed
    return raw


def make_executor(environ: Mapping[str, str], *, founding: bool = False) -> tuple[Executor, list[Diagnostic]]:
    """An engine that sends nothing, over the layers of the environment, and the errors that serving would meet.

    A layer whose folder is missing is an error, unless somebody is `founding` it.
    """
    from specloom.core import spec_layers
    from specloom.runtime import Executor, Unsent
    from specloom.server import load_served

    layers = spec_layers(environ)
    if founding and not all(map(os.path.exists, layers)):
        from specloom.compiler import weave_from
        from specloom.specs import layer_roots

        roots = [root for root in layer_roots(environ) if root.exists()]
        model, _, report = weave_from(roots, examples=False)
        found = report.errors
    else:
        served = load_served(environ)
        model, found = served.model, [*served.errors, *served.lost]
    return Executor(model, environ=environ, sender=Unsent()), found


def workbench(*, founding: bool = False) -> Executor:
    """An engine that sends nothing; what is wrong with specs is said, and the rest is there to be worked with."""
    executor, errors = make_executor(os.environ, founding=founding)
    tell_errors(errors)
    for problem in executor.problems:
        tell(f"specloom: {problem}")
    return executor


def tell_errors(errors: Sequence[Diagnostic]) -> None:
    """What is left out of the model, by the first of its errors."""
    if errors:
        more = f" and {len(errors) - 1} more" if len(errors) > 1 else ""
        tell(f"specloom: what has errors is left out: {error_line(errors[0])}{more}; run `specloom check`")


def error_line(error: Diagnostic) -> str:
    """Where an error is and what it is."""
    return f"{error.place}: {error.message}"


def record_event(event: str, tenant: str, user: str, metadata: dict[str, Any]) -> None:
    """Write to the audit log what was done from the command line."""
    from pathlib import Path

    from specloom.core import state_folder
    from specloom.storage import AuditRecord, open_audit

    try:
        log = open_audit(Path(state_folder(os.environ)), os.environ, warn=tell)
    except ValueError as error:
        raise CommandError(str(error)) from None
    if log is not None:
        log.record(AuditRecord(event, tenant, user, metadata={**metadata, "through": "command line"}))
        log.close()


def own_places(environ: Mapping[str, str], model: Model) -> Iterator[tuple[str, StoragePlace]]:
    """What packages keep, and where: of a project only what a tool of it reads the variable of, as no other is its."""
    from specloom.plugins import PLACES, load_hooks

    load_hooks()
    read = {name for tool in model.tools.values() for name in tool.settings}
    for about, place in sorted(PLACES.items()):
        if not project_folder(environ) or place.variable in read:
            yield about, place
