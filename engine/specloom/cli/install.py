"""The commands that put this server into the configuration of a host, and take it out: install, uninstall."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from specloom.core import columns, did_you_mean, program_name, table

from .common import CommandError, say, tell, writing
from .exits import PROBLEMS
from .host_file import HostFileError, find_entry, put_entry, remove_entry, render_entry
from .hosts import HostCommand, McpHost, load_hosts, mask_entry
from .overview import name_program
from .tool_states import known_variables

MOST_KEYS = 3
"""For so many keys a person is asked; further ones are named by `--key`."""
HOST_COLUMNS = 33
"""Columns of the list of hosts before the file: the longest name, the longest state, and the gaps."""
BACKUP = ".before-{name}"
"""What the copy of a host's file is called that is made before the first change."""


def install(options: Namespace) -> int:
    """Write the entry, try it as the host would, and say what comes next; without a host, say which there are."""
    options.name = options.name or name_program()[0]
    if not options.host:
        return _list_hosts(options.name)
    host = _find_host(options.host)
    if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", options.name):
        raise CommandError(f"{options.name!r} is no name of a server; take letters, digits, '-', '_' and '.'")
    path = _find_path(host, options)
    text, is_new = _read(path)
    old = _find(text, host, options.name, path)
    command = HostCommand(_find_argv(options.command), _choose_env(options, old or {}, host))
    entry = host.merge(old or {}, command)
    changed = _put(text, host, options.name, entry, path)
    if options.dry_run:
        _show(host, options.name, path, old, entry if changed != text else None)
        return 0
    if changed == text:
        say(f"{host.title} has {options.name} already: {path}")
    else:
        backup = None if is_new else _back_up(path, options.name, has_entry=old is not None)
        _write(path, changed, text, is_new=is_new)
        say(f"{host.title} has {options.name} now: {path}" + (f" (as it was: {backup})" if backup else ""))
        _tell_readable(path, command.env)
    return _try(host, options.name, path)


def uninstall(options: Namespace) -> int:
    """Take the entry out; the file is as it was before, byte for byte, where nothing else changed since."""
    options.name = options.name or name_program()[0]
    host = _find_host(options.host)
    path = _find_path(host, options)
    text, is_new = _read(path)
    entry = None if is_new else _find(text, host, options.name, path)
    if entry is None:
        say(f"{host.title} has no {options.name}: {path}")
        return 0
    backup = _backup_of(path, options.name)
    before = _read(backup)[0] if backup.exists() else ""
    # What an installation made of the copy, or of no file, is what is there: nobody has changed anything since.
    is_undone = _put_or_nothing(before, host, options.name, entry) == text
    try:
        bare = text.removeprefix(_BOM)
        changed = before if is_undone else _marked(text, remove_entry(bare, host.format, [*host.at, options.name]))
    except HostFileError as error:
        raise _left_alone(path, error) from None
    if options.dry_run:
        _show(host, options.name, path, entry, {})
        return 0
    if is_undone and not backup.exists():
        with writing(path):
            path.unlink()
    else:
        _write(path, changed, text, is_new=False)
        backup.unlink(missing_ok=True)
    say(f"{host.title} has {options.name} no more: {path}")
    say(f"next: {host.gone}, so that it lets go of the server")
    return 0


# --- which host, file, command and variables --------------------------------------------------------------------------


def _short_path(path: Path, width: int) -> str:
    """A path with `~` for the home; of one that is too long for the width the beginning and the name."""
    whole = str(path)
    if path.is_relative_to(Path.home()):
        whole = str(Path("~") / path.relative_to(Path.home()))
    return whole if len(whole) <= width else f"{whole[: max(8, width - len(path.name) - 2)]}…{os.sep}{path.name}"


def _list_hosts(name: str) -> int:
    rows = []
    for host in load_hosts().values():
        path = host.find_file(os.environ)
        state = "not found here"
        if path.exists():
            try:
                has_it = find_entry(_read(path)[0], host.format, [*host.at, name]) is not None
                state = "installed" if has_it else "not installed"
            except (HostFileError, CommandError):
                state = "its file is not valid"
        elif path.parent.exists() and path.parent != Path.home():
            state = "not installed"
        rows.append([host.name, state, _short_path(path, columns() - HOST_COLUMNS)])
    say("\n".join(table(rows, columns())))
    tell(f"next: `{name_program()[0]} install HOST`; `--dry-run` shows what it would write")
    return 0


def _find_host(name: str) -> McpHost:
    hosts = load_hosts()
    if name not in hosts:
        near = did_you_mean(name, hosts) or f"there are {', '.join(hosts)}"
        raise CommandError(f"there is no host {name!r}; {near}")
    return hosts[name]


def _find_path(host: McpHost, options: Namespace) -> Path:
    if not options.project:
        return host.find_file(os.environ)
    if not host.project:
        raise CommandError(f"{host.title} has no file of a project; leave out --project")
    return Path(host.project).absolute()


def _find_argv(command: str) -> tuple[str, ...]:
    """The command that starts this server from wherever a host stands, whose PATH is mostly short."""
    if command:
        import shlex

        argv = shlex.split(command, posix=os.name != "nt")
        program = shutil.which(argv[0]) if argv else None
        if program is None:
            raise CommandError(f"there is no program {argv[0] if argv else ''!r}; give --command one that can be run")
        return str(Path(program).absolute()), *argv[1:]
    # Not the one that PATH names: it may be another installation than the one that runs.
    name = name_program()[0]
    beside = Path(sys.executable).with_name(f"{name}.exe" if os.name == "nt" else name)
    named = shutil.which(sys.argv[0]) if Path(sys.argv[0]).stem == name else None
    program = named or (str(beside) if beside.is_file() else None)
    if program is None:
        return sys.executable, "-m", program_name(os.environ), "serve"
    runner = shutil.which("uvx")
    if runner and f"{os.sep}archive-v" in str(Path(program).resolve()):
        # It stands in a folder that uv may empty at any time.
        return str(Path(runner).absolute()), name, "serve"
    return str(Path(program).absolute()), "serve"


def _choose_env(options: Namespace, old: Mapping[str, Any], host: McpHost) -> dict[str, str]:
    """The variables that the entry gives the server: what was named, and what a person answers when asked."""
    env = {}
    known = known_variables(os.environ) if options.set or options.key else {}
    for pair in options.set:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise CommandError(f"{pair!r} is no setting; write NAME=VALUE")
        if known.get(name):
            raise CommandError(f"{name} is a secret, which other programs could read here; use --key {name}")
        env[name] = value
    for name in (*env, *options.key):
        if name not in known and (near := did_you_mean(name, known)):
            tell(f"specloom: nothing here reads {name}; {near}")
    for name in options.key:
        value = os.environ.get(name, "")
        if not value:
            raise CommandError(f"{name} is not set; --key takes the value from the variable of that name")
        env[name] = value
    if options.project and options.key:
        raise CommandError("a file of a project is for everybody who has it; keys do not go there, leave out --key")
    asks = not (options.key or options.no_keys or options.project or options.dry_run)
    if asks and sys.stdin.isatty() and sys.stderr.isatty():
        has = host.read_env(old)
        env |= _ask_keys({**os.environ, **has, **env}, has)
    return env


def _ask_keys(environ: Mapping[str, str], has: Mapping[str, str]) -> dict[str, str]:
    """What a person gives of the keys that open most; they are not shown while they are written."""
    import getpass

    from specloom.server import default_selection

    from .common import make_executor
    from .tool_states import find_tool_states

    model = make_executor(environ)[0].model
    gains = find_tool_states(model, default_selection(environ), environ).gains
    asked = [one for one in gains if one.secret and len(one.variables) == 1 and one.variables[0] not in has]
    asked = [one for one in asked if one.opens or one.leads][:MOST_KEYS]
    found = {}
    if asked:
        tell("It works without keys. These make it better; press Enter to go without:")
    for one in asked:
        opens = f", opens {', '.join(one.opens)}" if one.opens else ""
        tell(f"  {one.variables[0]}: {one.says}{opens}")
        value = getpass.getpass("  key: ", stream=sys.stderr).strip()
        if value:
            found[one.variables[0]] = value
    return found


# --- the file ---------------------------------------------------------------------------------------------------------


def _read(path: Path) -> tuple[str, bool]:
    """The text of a file as it is, line ends included, and whether there is none yet."""
    try:
        return path.read_bytes().decode(), False
    except FileNotFoundError:
        return "", True
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is left alone: byte {error.start} of it is no UTF-8", PROBLEMS) from None
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}", PROBLEMS) from None


def _left_alone(path: Path, error: HostFileError) -> CommandError:
    return CommandError(f"{path} is left alone, because it cannot be changed safely: {error}", PROBLEMS)


_BOM = "\ufeff"


def _find(text: str, host: McpHost, name: str, path: Path) -> dict[str, Any] | None:
    try:
        return find_entry(text.removeprefix(_BOM), host.format, [*host.at, name])
    except HostFileError as error:
        raise _left_alone(path, error) from None


def _put(text: str, host: McpHost, name: str, entry: Mapping[str, Any], path: Path) -> str:
    try:
        return _with_entry(text, host, name, entry)
    except HostFileError as error:
        raise _left_alone(path, error) from None


def _put_or_nothing(text: str, host: McpHost, name: str, entry: Mapping[str, Any]) -> str | None:
    try:
        return _with_entry(text, host, name, entry)
    except HostFileError:
        return None


def _with_entry(text: str, host: McpHost, name: str, entry: Mapping[str, Any]) -> str:
    return _marked(text, put_entry(text.removeprefix(_BOM), host.format, [*host.at, name], entry))


def _marked(before: str, after: str) -> str:
    return _BOM + after if before.startswith(_BOM) else after


def _backup_of(path: Path, name: str) -> Path:
    return path.with_name(path.name + BACKUP.format(name=name))


def _back_up(path: Path, name: str, *, has_entry: bool) -> Path:
    """A copy of the file beside it, with its mode: of how it was before there was an entry of ours."""
    backup = _backup_of(path, name)
    if not (has_entry and backup.exists()):
        with writing(backup):
            handle = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(path.read_bytes())
            shutil.copystat(path, backup)
    return backup


def _write(path: Path, text: str, before: str, *, is_new: bool) -> None:
    """Put a text in the place of a file at once: through links, with its mode; a new one is its owner's alone."""
    real = path.resolve()
    with writing(path):
        real.parent.mkdir(parents=True, exist_ok=True)
        draft = real.with_name(f".{real.name}.{os.getpid()}")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            if not is_new:
                draft.chmod(stat.S_IMODE(real.stat().st_mode))
            if _read(path)[0] != before:
                raise CommandError(
                    f"{path} is being written by another program; close the host and try again", PROBLEMS
                )
            draft.replace(real)
        finally:
            draft.unlink(missing_ok=True)


def _tell_readable(path: Path, env: Mapping[str, str]) -> None:
    if env and os.name != "nt" and path.stat().st_mode & 0o044:
        tell(f"specloom: others on this machine can read {path}; `chmod 600` keeps the keys in it to yourself")


def _show(host: McpHost, name: str, path: Path, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> None:
    """What would be written: the entry before and after, the values of its variables left out."""
    if new is None:
        say(f"{path} would stay as it is")
        return
    say(f"{path} would be changed; all else in it stays as it is" if path.exists() else f"{path} would be made")
    for sign, entry in (("-", old), ("+", new)):
        if entry:
            lines = render_entry(host.format, [*host.at, name], mask_entry(host, entry)).splitlines()
            say("\n".join(f"{sign} {line}".rstrip() for line in lines))


# --- the trial --------------------------------------------------------------------------------------------------------


def _try(host: McpHost, name: str, path: Path) -> int:
    """Start what stands in the file as the host would, and say how many tools it lists."""
    from .trial import try_server

    entry = _find(_read(path)[0], host, name, path)
    assert entry is not None
    tools, problem = try_server(host.read_command(entry))
    if problem:
        again = f"`{name_program()[0]} uninstall {host.name}` takes it out again"
        raise CommandError(f"started as {host.title} starts it, it does not answer: {problem}; {again}", PROBLEMS)
    say(f"started as {host.title} starts it, it lists {tools} tool{'' if tools == 1 else 's'}")
    say(f"next: {host.next}")
    return 0
