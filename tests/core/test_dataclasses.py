"""Dataclasses of the engine are those of the standard library, but for when their methods are generated."""

from __future__ import annotations

import ast
import copy
import dataclasses
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from specloom.core import dataclass, field, replace

ENGINE = Path(__file__).parents[2] / "engine" / "specloom"
T = TypeVar("T")
Decorate = Callable[..., Callable[[type], Any]]


def _declare(decorate: Decorate, field: Any) -> dict[str, Any]:
    """The same classes, by one decorator or the other, and one way to say what a field is or the other."""

    @decorate(frozen=True, slots=True)
    class Base:
        name: str
        size: int = 1
        parts: list[str] = field(default_factory=list)

    @decorate(frozen=True, slots=True, kw_only=True)
    class Wider(Base):
        size: int = 2
        colour: str
        secret: str = field(default="", repr=False, compare=False)

    @decorate(slots=True)
    class Counter:
        KINDS: ClassVar[tuple[str, ...]] = ("one",)
        count: int = 0
        seen: set[str] = field(default_factory=set, init=False)
        limit: int = field(default=3, init=False)

        def __post_init__(self) -> None:
            self.count += 1

    @decorate(frozen=True, slots=True, order=True)
    class Version:
        major: int
        minor: int = 0

    @decorate(frozen=True)
    class Own:  # noqa: PLW1641 - a frozen one gets its hash
        """Compares and shows itself in its own way."""

        name: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self)) and self.name.lower() == other.name.lower()

        def __repr__(self) -> str:
            return f"<{self.name}>"

    @decorate(slots=True, eq=False)
    class Same:
        name: str

    @decorate(frozen=True, slots=True)
    class Box(Generic[T]):
        inner: T

    @decorate(frozen=True, slots=True)
    class Empty:
        pass

    return {name: one for name, one in locals().items() if isinstance(one, type)}


OURS, THEIRS = _declare(dataclass, field), _declare(dataclasses.dataclass, dataclasses.field)
EITHER = pytest.mark.parametrize(
    "made", [OURS, _declare(dataclass, dataclasses.field)], ids=["fields of ours", "fields of the library"]
)

INSTANCES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "defaults": lambda made: made["Base"]("a"),
    "by keyword": lambda made: made["Base"](name="a", parts=["b"], size=3),
    "inherited": lambda made: made["Wider"]("a", ["p"], colour="red", secret="s"),
    "after init": lambda made: made["Counter"](4),
    "ordered": lambda made: made["Version"](1, 2),
    "of its own": lambda made: made["Own"]("Ann"),
    "by identity": lambda made: made["Same"]("a"),
    "generic": lambda made: made["Box"](inner=1),
    "empty": lambda made: made["Empty"](),
}


@EITHER
@pytest.mark.parametrize("make", INSTANCES.values(), ids=INSTANCES.keys())
def test_an_instance_is_shown_compared_and_taken_apart_as_one_of_the_standard_library(
    make: Callable[[dict[str, Any]], Any], made: dict[str, Any]
) -> None:
    ours, theirs = make(made), make(THEIRS)

    assert _facts(make, made) == _facts(make, THEIRS)
    assert type(ours).__slots__ == type(theirs).__slots__ if hasattr(theirs, "__slots__") else hasattr(ours, "__dict__")
    assert type(ours).__match_args__ == type(theirs).__match_args__


def _facts(make: Callable[[dict[str, Any]], Any], made: dict[str, Any]) -> dict[str, Any]:
    one, other = make(made), make(made)
    names = ("name", "type", "init", "repr", "compare", "kw_only", "default")
    return {
        "shown": repr(one),
        "equal": one == other,
        "unequal": one != object(),
        "hashes": _hashes_alike(one, other),
        "fields": [[getattr(part, name) for name in names] for part in dataclasses.fields(one)],
        "data": dataclasses.asdict(one),
        "copy": dataclasses.asdict(copy.copy(one)),
    }


def _hashes_alike(one: object, other: object) -> object:
    try:
        return hash(one) == hash(other)
    except TypeError as error:
        return str(error)


WRONG: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a field is missing": lambda made: made["Base"](),
    "a keyword is unknown": lambda made: made["Base"]("a", colour="red"),
    "a keyword is given in order": lambda made: made["Wider"]("a", [], "red"),
    "a field that no caller gives": lambda made: made["Counter"](limit=2),
    "a field is set": lambda made: setattr(made["Base"]("a"), "name", "b"),
    "a field is deleted": lambda made: delattr(made["Base"]("a"), "name"),
    "no such slot": lambda made: setattr(made["Counter"](), "other", 1),
    "no order": lambda made: made["Base"]("a") < made["Base"]("b"),
    "no hash": lambda made: hash(made["Counter"]()),
}


@EITHER
@pytest.mark.parametrize("do", WRONG.values(), ids=WRONG.keys())
def test_what_the_standard_library_refuses_is_refused_in_its_words(
    do: Callable[[dict[str, Any]], Any], made: dict[str, Any]
) -> None:
    with pytest.raises((TypeError, AttributeError)) as theirs:
        do(THEIRS)
    with pytest.raises((TypeError, AttributeError)) as ours:
        do(made)

    assert (ours.type, str(ours.value)) == (theirs.type, str(theirs.value))


def test_versions_are_sorted_and_patterns_match() -> None:
    version = OURS["Version"]

    assert sorted([version(2), version(1, 9), version(1, 2)]) == [version(1, 2), version(1, 9), version(2)]
    match version(1, 9):
        case version(1, minor):
            assert minor == 9
        case _:
            pytest.fail("a pattern of positions did not match")


def test_each_instance_has_a_list_of_its_own() -> None:
    one, other = OURS["Base"]("a"), OURS["Base"]("b")

    one.parts.append("p")

    assert other.parts == []


@EITHER
@pytest.mark.parametrize("change", [replace, dataclasses.replace], ids=["ours", "theirs"])
def test_replace_checks_and_keeps_what_is_not_named(change: Callable[..., Any], made: dict[str, Any]) -> None:
    wider = made["Wider"]("a", colour="red", secret="s")

    changed = change(wider, colour="blue")

    assert (changed.name, changed.colour, changed.secret) == ("a", "blue", "s")
    assert change(made["Counter"](), count=5).count == 6
    with pytest.raises(ValueError, match="limit is declared with init=False"):
        change(made["Counter"](), limit=5)
    with pytest.raises(TypeError, match="shape"):
        change(wider, shape="round")


def test_replace_takes_an_instance_of_the_standard_library() -> None:
    assert replace(THEIRS["Base"]("a"), name="b") == THEIRS["Base"]("b")


def test_a_field_has_a_default_or_makes_one() -> None:
    with pytest.raises(ValueError, match="both default and default_factory"):
        field(default=1, default_factory=list)


def test_the_standard_library_is_not_imported_to_make_compare_and_change_an_instance() -> None:
    code = """if True:
        import sys
        from specloom.core import dataclass, field, replace

        @dataclass(frozen=True, slots=True)
        class Point:
            x: int
            y: list = field(default_factory=list, compare=False)

        one = Point(1)
        assert one == Point(1, [2]) and hash(one) == hash(Point(1)) and replace(one, x=2) != one
        print("dataclasses" in sys.modules)
        assert repr(one) == "Point(x=1, y=[])"
        print("dataclasses" in sys.modules)
    """

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)

    assert done.stdout.split() == ["False", "True"]


@dataclass(frozen=True, slots=True)
class Kept:
    """At the top of a module, where pickling finds it."""

    name: str
    parts: tuple[str, ...] = ()


def test_a_frozen_one_with_slots_is_pickled_and_copied() -> None:
    kept = Kept("a", ("b",))

    assert pickle.loads(pickle.dumps(kept)) == kept
    assert copy.deepcopy(kept) == kept


def test_nothing_is_generated_before_it_is_looked_up() -> None:
    @dataclass(frozen=True, slots=True)
    class Waiting:
        name: str

    late = vars(Waiting)["__repr__"]
    made = Waiting("a")

    assert vars(Waiting)["__init__"].__qualname__.endswith("Waiting.__init__")
    assert vars(Waiting)["__repr__"] is late
    assert repr(made).endswith("Waiting(name='a')")
    assert vars(Waiting)["__repr__"] is not late


def test_a_subclass_that_says_nothing_uses_what_its_base_generates() -> None:
    class Child(OURS["Version"]):  # type: ignore[misc, name-defined]
        pass

    assert (Child(1), Child(1).major, Child(1) == Child(1), Child(1) < Child(2)) == (Child(1), 1, True, True)


def test_threads_that_make_the_first_instance_at_once_all_get_one() -> None:
    @dataclass(frozen=True, slots=True)
    class Shared:
        name: str
        parts: list[str] = field(default_factory=list)

    made: list[Any] = []
    ready = threading.Barrier(8)

    def make() -> None:
        ready.wait()
        made.append(Shared("a"))

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert made == [Shared("a")] * 8


def test_a_class_of_the_standard_library_may_widen_one() -> None:
    @dataclasses.dataclass(frozen=True)
    class Wider(OURS["Version"]):  # type: ignore[misc, name-defined]
        patch: int = 0

    assert repr(Wider(1, 2, 3)).endswith("Wider(major=1, minor=2, patch=3)")


def test_no_module_of_the_engine_waits_for_the_standard_decorator() -> None:
    used = [
        str(path.relative_to(ENGINE))
        for path in sorted(ENGINE.rglob("*.py"))
        if path != ENGINE / "core" / "dataclasses.py" and "dataclass" in _imported(path)
    ]

    assert used == [], "write `from specloom.core import dataclass`"


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses" and not node.level:
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "dataclasses":
            yield node.attr
