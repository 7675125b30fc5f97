"""Where configuration, cache, state and what is shipped live, worked out without an import: a start has to wait for it.

The places are those of the platformdirs library, which takes longer to import than the whole start may take. What the
engine keeps for a user is for that user alone, whatever the umask: folders are 0700 and files 0600.
"""

from __future__ import annotations

import os
import stat
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


NAME = "specloom"
CACHE_VARIABLE = "SPECLOOM_CACHE_DIR"
STATE_VARIABLE = "SPECLOOM_STATE_DIR"
PROJECT_VARIABLE = "SPECLOOM_PROJECT"
"""Names the folder of specs of a project, which then stand in the place of the shipped ones."""
PROJECT_FILE = "project.yaml"
"""The file of that folder which says what the server is called."""
OWNER_FILE = "project"
"""The file of a state folder that says of which project it is: by its `id`, or by its name and its folder of specs."""
PROMPTS = "templates/prompts"
"""Where in a layer its prompts are, a file each."""
PAGE_TEMPLATES = "templates/pages"
"""Where in a layer the templates of pages are."""
PROMPT_SUFFIX = ".md.j2"
VIEWS = "templates/views"
"""Where in a layer the templates of views are, each a file that ends in `VIEW_SUFFIX`."""
VIEW_SUFFIX = ".html"
ENGINE_SUFFIXES = (".py", ".yaml", ".json", ".toml", ".sql", ".js")
"""How files of the engine end that say what it does: its code and its data."""


def config_folder(environ: Mapping[str, str]) -> str:
    """The user's own specs: ~/.config/specloom, ~/Library/Application Support/specloom or %LOCALAPPDATA%\\specloom.

    As the cache and the state, the folder of a project's user has the `id` of the project.
    """
    if sys.platform == "win32":
        return os.path.join(_local(environ), data_name(environ))
    if sys.platform == "darwin":
        return os.path.join(_home(environ), "Library", "Application Support", data_name(environ))
    return os.path.join(_xdg(environ, "XDG_CONFIG_HOME", ".config"), data_name(environ))


def cache_folder(environ: Mapping[str, str]) -> str:
    """What may be deleted at any time; `SPECLOOM_CACHE_DIR` names another place."""
    chosen = environ.get(CACHE_VARIABLE, "").strip()
    if chosen:
        return os.path.expanduser(chosen)
    if sys.platform == "win32":
        return os.path.join(_local(environ), data_name(environ), "Cache")
    if sys.platform == "darwin":
        return os.path.join(_home(environ), "Library", "Caches", data_name(environ))
    return os.path.join(_xdg(environ, "XDG_CACHE_HOME", ".cache"), data_name(environ))


def state_folder(environ: Mapping[str, str]) -> str:
    """What programs remember, not with the cache, which may be deleted; `SPECLOOM_STATE_DIR` names another place."""
    chosen = environ.get(STATE_VARIABLE, "").strip()
    if chosen:
        return os.path.expanduser(chosen)
    if sys.platform == "win32":
        return os.path.join(_local(environ), data_name(environ), "State")
    if sys.platform == "darwin":
        return os.path.join(_home(environ), "Library", "Application Support", data_name(environ), "State")
    return os.path.join(_xdg(environ, "XDG_STATE_HOME", ".local/state"), data_name(environ))


def make_folder(folder: str | os.PathLike[str], *, tighten: bool = False) -> None:
    """Make a folder with mode 0700, and those above it that are missing; with `tighten`, one that is there is made so.

    A folder that belongs to another user keeps its mode. OSError where it cannot be made.
    """
    try:
        os.mkdir(folder, 0o700)
    except FileNotFoundError:
        above = os.path.dirname(os.path.abspath(folder))
        if above == os.path.abspath(folder):
            raise
        make_folder(above)
        make_folder(folder)
    except OSError:
        # What is there is said to be so in other words by some systems, as by one that can only be read.
        if not os.path.isdir(folder):
            raise
        if tighten:
            _tighten(folder, stat.S_ISDIR)


def make_own_folder(folder: str, environ: Mapping[str, str]) -> None:
    """Make the folder of the cache or the state for its owner alone, also where an older one is open to others.

    One that a variable names and that is there keeps its mode: it may be anything, and others may have to enter it.
    """
    usual = {name: value for name, value in environ.items() if name not in (CACHE_VARIABLE, STATE_VARIABLE)}
    make_folder(folder, tighten=folder in (cache_folder(usual), state_folder(usual)))
    if folder == state_folder(usual) and project_folder(environ) and not _has_name_of_engine(environ):
        owner = _read_owner(folder)
        if owner != _name_owner(environ) and _is_own(owner, environ):
            from pathlib import Path  # only for the first start in this folder

            write_whole(Path(folder, OWNER_FILE), f"{_name_owner(environ)}\n".encode(errors="surrogateescape"))


def _read_owner(folder: str) -> str:
    """The project that a folder of states says it is of; "" where it says none, or says it in no way that is read."""
    try:
        with open(os.path.join(folder, OWNER_FILE), encoding="utf-8", errors="surrogateescape") as file:
            return file.read(10_000).strip()
    except (OSError, ValueError):
        return ""


def _name_owner(environ: Mapping[str, str]) -> str:
    """What a folder of states says of whose it is: the `id` of the project, else its name and, below, its folder."""
    said = _name_briefly(environ)
    return said if project_id(environ) else f"{said}\n{os.path.realpath(project_folder(environ))}".strip()


def _name_briefly(environ: Mapping[str, str]) -> str:
    """The line by which a person hands a folder of states to a project."""
    said = project_id(environ)
    return f"id: {said}" if said else command_name(environ)


def _is_own(owner: str, environ: Mapping[str, str]) -> bool:
    """Whether what a folder of states says of whose it is means this project.

    One that says a name alone is of before folders were written there, or was handed over; a project that was given
    an `id` where it stands goes on with its folder.
    """
    name = command_name(environ)
    place = os.path.realpath(project_folder(environ))
    return owner in ("", _name_owner(environ), name, f"{name}\n{place}")


def _has_name_of_engine(environ: Mapping[str, str]) -> bool:
    """Whether a project would keep its data where specloom itself does; some file systems do not tell case apart."""
    return bool(project_folder(environ)) and data_name(environ).lower() == NAME


def find_other_owner(environ: Mapping[str, str]) -> str:
    """A sentence where another project, or specloom itself, keeps its state where this one would; "" where not.

    One that `SPECLOOM_STATE_DIR` names is its operator's matter, but the name of specloom is no project's.
    """
    if not project_folder(environ):
        return ""
    file, name = os.path.join(project_folder(environ), PROJECT_FILE), command_name(environ)
    change = f"write {'another' if project_id(environ) else 'an'} `id` into {file}, such as `id: {name}-specs`"
    if _has_name_of_engine(environ):
        return f"the folders of this project's users would be called {NAME}, as those of {NAME} itself; {change}"
    if environ.get(STATE_VARIABLE, "").strip():
        return ""
    folder = state_folder(environ)
    owner = _read_owner(folder)
    if _is_own(owner, environ):
        return ""
    other, _, place = owner.partition("\n")
    return (
        f"{folder} keeps what the project {other!r}{place and f' in {place}'} remembers, which is called like yours; "
        f"{change}; or, if this is that project under a new name or in a new place, write `{_name_briefly(environ)}` "
        f"as the only line of {os.path.join(folder, OWNER_FILE)}"
    )


def open_private(path: str | os.PathLike[str], flags: int) -> int:
    """A descriptor of a file with mode 0600, which `flags` may make; one of ours that others could read is made so."""
    handle = os.open(path, flags | getattr(os, "O_BINARY", 0), 0o600)
    mode = os.fstat(handle).st_mode
    if os.name != "nt" and stat.S_ISREG(mode) and mode & 0o077:
        try:
            os.fchmod(handle, 0o600)
        except OSError:
            return handle
    return handle


def write_whole(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Write a file so that it is either whole or as it was before: temporary file, flush to disk, rename.

    It has the given mode, whatever the umask; Windows knows none.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    handle = open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            if mode != 0o600 and os.name != "nt":
                os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def make_database(path: str | os.PathLike[str]) -> None:
    """An empty file for SQLite with mode 0600 where there is none, or that mode for the one that is there.

    The journals take over its mode. OSError where it cannot be made.
    """
    try:
        os.close(open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        # One that is there is not opened: to close it would give back the locks that this process has on it.
        for name in (os.fspath(path), f"{os.fspath(path)}-wal", f"{os.fspath(path)}-shm"):
            _tighten(name, stat.S_ISREG)


def _tighten(path: str | os.PathLike[str], is_kind: Callable[[int], bool]) -> None:
    """Take a path from the group and from others; nothing where it is another's, gone, or of another kind."""
    try:
        mode = os.stat(path).st_mode
        if is_kind(mode) and mode & 0o077 and os.name != "nt":
            os.chmod(path, mode & 0o700)
    except OSError:
        return


def _xdg(environ: Mapping[str, str], variable: str, otherwise: str) -> str:
    said = environ.get(variable, "")
    return said if os.path.isabs(said) else os.path.join(_home(environ), otherwise)


def _home(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or os.path.expanduser("~")


def _local(environ: Mapping[str, str]) -> str:
    return environ.get("LOCALAPPDATA") or os.path.join(_home(environ), "AppData", "Local")


def shipped_folder() -> str:
    """The specs that come with the package: inside the wheel, or the checkout that is being worked in."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, "shipped")
    return inside if os.path.isdir(inside) else os.path.dirname(os.path.dirname(package))


def project_folder(environ: Mapping[str, str]) -> str:
    """The folder of the project that is served, by its whole path; "" where it is the shipped specs."""
    named = environ.get(PROJECT_VARIABLE, "").strip()
    return os.path.abspath(os.path.expanduser(named)) if named else ""


def program_name(environ: Mapping[str, str]) -> str:
    """The Python package that is run: that of the project, whose name its folder has, else specloom."""
    return os.path.basename(project_folder(environ)) or NAME


def command_name(environ: Mapping[str, str]) -> str:
    """What the command is called by who installed it: the name of the project, else specloom."""
    return _project_says(environ, "name") or program_name(environ)


def data_name(environ: Mapping[str, str]) -> str:
    """What the folders of a user are called: the `id` of the project, without one as its folder is, else specloom."""
    return project_id(environ) or program_name(environ)


def project_id(environ: Mapping[str, str]) -> str:
    """The `id` of the project that is served; "" where it has none, or where there is no project."""
    return _project_says(environ, "id")


def own_words(text: str) -> str:
    """A sentence to people in which commands are called as this process is; without a project it stays as it is."""
    if NAME not in text or not os.environ.get(PROJECT_VARIABLE, "").strip():
        return text
    name = command_name(os.environ)
    text = text.replace(f"`{NAME} ", f"`{name} ")
    return f"{name}: {text[len(NAME) + 2 :]}" if text.startswith(f"{NAME}: ") else text


def _project_says(environ: Mapping[str, str], key: str) -> str:
    """What the file of the project says under one of its keys, each of which stands on a line; "" where it does not."""
    folder = project_folder(environ)
    return _read_lines(os.path.join(folder, PROJECT_FILE)).get(key, "") if folder else ""


_LINES: dict[str, tuple[tuple[int, int, int], Mapping[str, str]]] = {}
"""What files of projects say, each beside when it was changed, its size and its number on the disk."""
_SETTLED = 2_000_000_000  # nanoseconds; some file systems date by whole seconds, so what is younger may still change


def _read_lines(path: str) -> Mapping[str, str]:
    """The keys of a file of a project and what stands behind them; nothing where it cannot be read.

    Read by its lines: what YAML needs is not imported for the name of a folder. A file that stays as it is, is read
    once.
    """
    said: dict[str, str] = {}
    try:
        status = os.stat(path)
        signature = (status.st_mtime_ns, status.st_size, status.st_ino)
        kept = _LINES.get(path)
        if kept is not None and kept[0] == signature:
            return kept[1]
        with open(path, encoding="utf-8") as file:
            for line in file:
                name, _, value = line.partition(":")
                said.setdefault(name, value.partition(" #")[0].strip().strip("\"'"))
    except OSError:
        return {}
    except ValueError:
        return said  # what stands before a byte that is no text
    if time.time_ns() - status.st_mtime_ns > _SETTLED:
        _LINES[path] = (signature, said)
    return said


def spec_layers(environ: Mapping[str, str]) -> list[str]:
    """The shipped specs, then each folder of `SPECLOOM_PATH` (the user's configuration folder when it is not set).

    The specs of a project stand in the place of the shipped ones.
    """
    first = project_folder(environ) or shipped_folder()
    listed = environ.get("SPECLOOM_PATH")
    if listed is None:
        own = config_folder(environ)
        return [first, own] if os.path.isdir(own) else [first]
    return [first, *(os.path.expanduser(part) for part in listed.split(os.pathsep) if part)]
