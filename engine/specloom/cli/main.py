"""The command line: what people, builds and hosts can ask for, each in one command that explains itself."""

from __future__ import annotations

import os
import sys

from specloom.core.paths import find_other_owner, own_words, project_folder

from .exits import INTERRUPTED, PROBLEMS, READER_LEFT, USAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

# Each part of this module imports what it needs: the version is there before argparse could be, and a usage error
# before the engine.


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command: 0 when all is well, 1 when problems were found or a call failed, 2 when it is not understood.

    Without any word it helps. 130 says that it was interrupted, and 141 that who read its output left before the end,
    as a shell would say both.
    """
    words = _usual(list(sys.argv[1:] if argv is None else argv))
    _drop_unfilled()
    if project_folder(os.environ) and not _has_project(words):
        return USAGE
    try:
        if words == ["--version"]:
            code = _print_version()
        elif words in ([], ["--help"], ["-h"]):
            code = _print_help()
        elif words[0] == "__complete":
            code = _print_completions(words[1:])
        else:
            code = _run(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has left. What is still buffered must go somewhere when the interpreter closes the stream.
        import contextlib

        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_LEFT
    return code


def _usual(words: list[str]) -> list[str]:
    """The words of a command line where it begins with one that other programs know as a command."""
    if words[:1] == ["help"]:
        return [*words[1:], "--help"]
    return ["--version"] if words == ["version"] else words


_WITHOUT_STATE = ("check", "--version", "--help", "-h", "__complete")
"""The first words of what reads nothing that a server remembers."""


def _has_project(words: Sequence[str]) -> bool:
    """Whether the project that is to be served has a name, and its state is its own where a command may read that.

    What is wrong with its file is told.
    """
    from specloom.server import name_server

    try:
        name_server(os.environ)
        sentence = "" if not words or words[0] in _WITHOUT_STATE else find_other_owner(os.environ)
    except ValueError as error:
        sentence = str(error)
    if sentence:
        sys.stderr.write(own_words(f"specloom: {sentence}\n"))
    return not sentence


def _drop_unfilled() -> None:
    """Take away the variables that a host was to fill in and has not, such as those of keys that nobody gave."""
    for name, value in list(os.environ.items()):
        if value.startswith("${") and value.endswith("}") and value.count("$") == 1:
            del os.environ[name]
            sentence = f"specloom: {name} is {value!r}, which its host has not filled in; it counts as not set"
            sys.stderr.write(f"{own_words(sentence)}\n")


def _print_version() -> int:
    from specloom.server import version_line

    sys.stdout.write(f"{version_line(os.environ)}\n")
    return 0


def _print_help() -> int:
    from specloom.core import load_table
    from specloom.server import open_tables

    from .overview import overview

    open_tables(os.environ)
    sys.stdout.write(overview(load_table(__file__, "commands.yaml")))
    return 0


def _print_completions(words: list[str]) -> int:
    from specloom.server import open_tables

    from .completion import complete

    open_tables(os.environ)
    sys.stdout.write("".join(f"{one}\n" for one in complete(words, os.environ)))
    return 0


def _run(words: list[str]) -> int:
    import contextlib
    import io

    from specloom.core import SafeStream
    from specloom.server import forget_opened, open_tables

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Answers hold what others wrote, and half a surrogate in it must not end the command.
            stream.reconfigure(errors="replace")
    open_tables(os.environ)
    # No command need think of what steers a terminal.
    with contextlib.redirect_stdout(SafeStream(sys.stdout)), contextlib.redirect_stderr(SafeStream(sys.stderr)):
        from .parser import parse

        try:
            options = parse(words)
        except SystemExit as stop:  # argparse has said what is wrong
            return stop.code if isinstance(stop.code, int) else USAGE
        try:
            return _carry_out(options)
        finally:
            forget_opened()


def _carry_out(options: Namespace) -> int:
    from specloom.core import Fault

    from .common import CommandError, tell, tell_fault

    try:
        code: int = options.run(options)
    except CommandError as error:
        tell(f"specloom: {error}")
        return error.code
    except Fault as fault:
        tell_fault(fault)
        return PROBLEMS
    return code
