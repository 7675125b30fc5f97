"""Dataclasses whose methods are generated at first use, so that importing a module does not wait for them.

The decorator of the standard library writes and compiles five or six functions for each class as its module is
imported, which takes longer than all else that a module does, and a process uses few of them. This one takes the same
options and makes the same classes; initialisers and comparisons are generated here when they are first looked up, and
other methods by the standard library, which is imported for the first of them: with `inspect` and what that imports it
takes as long as half an interpreter.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from dataclasses import dataclass, field, replace
    from typing import Any, Final

__all__ = ["dataclass", "field", "replace"]

MISSING: Final = object()
"""Stands for what a field was not given."""

_OWN = "__dataclass_own__"
"""Where a class has the fields that it adds to those of its bases, and its options."""
_ORDER = ("__lt__", "__le__", "__gt__", "__ge__")


class _Own:
    """What one class declares: the types of its fields, and their defaults or `Field`s where they have any."""

    __slots__ = ("kw_only", "options", "types", "values")

    def __init__(
        self, types: Mapping[str, Any], values: Mapping[str, Any], options: Mapping[str, bool], kw_only: bool
    ) -> None:
        self.types = types
        self.values = values
        self.options = options
        self.kw_only = kw_only


_SLOT: Final = type(vars(_Own)["types"])
"""What a slot is on its class: `types.MemberDescriptorType`, without the import."""


class _Declared:
    """What is said of one field, by `field` or by that of the standard library."""

    __slots__ = ("compare", "default", "default_factory", "hash", "init", "kw_only", "metadata", "repr")

    def __init__(
        self,
        *,
        default: Any = MISSING,
        default_factory: Any = MISSING,
        init: bool = True,
        repr: bool = True,  # noqa: A002 - as the standard library calls it
        hash: bool | None = None,  # noqa: A002
        compare: bool = True,
        metadata: Any = None,
        kw_only: Any = MISSING,
    ) -> None:
        if default is not MISSING and default_factory is not MISSING:
            raise ValueError("cannot specify both default and default_factory")
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.hash = hash
        self.compare = compare
        self.metadata = metadata
        self.kw_only = kw_only

    def of_class(self, *, kw_only: bool) -> _Declared:
        """The same for a class whose fields are `kw_only` where nothing else is said."""
        if self.kw_only is not MISSING:
            return self
        return _Declared(**{**self.given(), "kw_only": kw_only})

    def given(self) -> dict[str, Any]:
        """What was said, as arguments."""
        return {name: value for name in _Declared.__slots__ if (value := getattr(self, name)) is not MISSING}


def _to_field(value: Any) -> _Declared:
    """What stands behind the name of a field in a class: its default, or what is said of it."""
    if isinstance(value, _Declared):
        return value
    if type(value).__module__ != "dataclasses" or type(value).__name__ != "Field":
        return _Declared(default=value)
    from dataclasses import MISSING as NOTHING

    said = {name: getattr(value, name) for name in _Declared.__slots__}
    return _Declared(**{name: one for name, one in said.items() if one is not NOTHING})


def _replace(instance: Any, /, **changes: Any) -> Any:
    """As `dataclasses.replace`."""
    class_ = type(instance)
    names = _initial.get(class_)
    if names is None:
        if _OWN not in vars(class_):
            import dataclasses

            return dataclasses.replace(instance, **changes)
        declared = _fields(class_)
        for name in changes:
            if name in declared and not declared[name][1].init:
                raise ValueError(f"field {name} is declared with init=False, it cannot be specified with replace()")
        names = tuple(name for name, (_, one) in declared.items() if one.init)
        if len(names) == len(declared):
            _initial[class_] = names
    for name in names:
        if name not in changes:
            changes[name] = getattr(instance, name)
    return class_(**changes)


_initial: dict[type, tuple[str, ...]] = {}
"""The fields of classes all of whose fields the initialiser takes, once they were asked for."""


class _Late:
    """Stands for an attribute of a dataclass until it is looked up, on the class or on an instance."""

    __slots__ = ("_name", "_owner")

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, instance: object, owner: type) -> Any:
        # Two threads that come here at once generate the same.
        setattr(self._owner, self._name, _generate(self._owner, self._name))
        return getattr(owner if instance is None else instance, self._name)


def _dataclass(
    class_: type | None = None,
    /,
    *,
    frozen: bool = False,
    slots: bool = False,
    kw_only: bool = False,
    eq: bool = True,
    order: bool = False,
    repr: bool = True,  # noqa: A002 - as the standard library calls it
) -> Any:
    """As `dataclasses.dataclass`; what is wrong with defaults is told when the first instance is made."""
    options = {"frozen": frozen, "eq": eq, "order": order, "repr": repr}

    def make(plain: type) -> type:
        types = {name: kind for name, kind in plain.__annotations__.items() if "ClassVar" not in str(kind)}
        values = {name: value for name, value in vars(plain).items() if name in types}
        left_out = {*types, "__dict__", "__weakref__"}
        body = {name: value for name, value in vars(plain).items() if name not in left_out}
        if slots:
            taken = {name for base in plain.__mro__[1:-1] for name in vars(base).get("__slots__", ())}
            body["__slots__"] = tuple(name for name in types if name not in taken)
        else:
            body |= _defaults(values)
        body |= _methods(body, options, slots=slots)
        body |= {"__qualname__": plain.__qualname__, _OWN: _Own(types, values, options, kw_only)}
        return type(plain)(plain.__name__, plain.__bases__, body)

    return make if class_ is None else make(class_)


if not TYPE_CHECKING:
    dataclass = _dataclass
    field = _Declared
    replace = _replace


def _defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults that the class itself has."""
    plain = {name: _to_field(value).default for name, value in values.items()}
    return {name: value for name, value in plain.items() if value is not MISSING}


def _methods(body: Mapping[str, Any], options: Mapping[str, bool], *, slots: bool) -> dict[str, Any]:
    """What a class gets, less what it has of its own."""
    late = ["__init__", "__match_args__", "__dataclass_fields__", "__dataclass_params__"]
    late += ["__repr__"] * options["repr"] + ["__eq__"] * options["eq"] + [*_ORDER] * options["order"]
    found: dict[str, Any] = {}
    if options["frozen"]:
        found |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        if slots:
            found |= {"__getstate__": _get_state, "__setstate__": _set_state}
    found |= {name: _Late() for name in late}
    found = {name: value for name, value in found.items() if name not in body}
    # The language itself says None for a class that has `__eq__` of its own.
    if options["eq"] and ("__hash__" not in body or (body["__hash__"] is None and "__eq__" in body)):
        found["__hash__"] = _Late() if options["frozen"] else None
    return found


def _generate(class_: type, name: str) -> Any:
    """One attribute; what is not made here, as the standard library makes it for a class with the same fields."""
    declared = _fields(class_)
    if name in _GENERATED:
        return _GENERATED[name](class_, declared)
    import dataclasses

    body: dict[str, Any] = {name: dataclasses.field(**one.given()) for name, (_, one) in declared.items()}
    body |= {"__annotations__": {name: kind for name, (kind, _) in declared.items()}}
    body |= {"__module__": class_.__module__, "__qualname__": class_.__qualname__, "__doc__": class_.__doc__ or ""}
    twin = type(class_.__name__, (), body)
    return vars(dataclasses.dataclass(init=False, **getattr(class_, _OWN).options)(twin))[name]


def _fields(class_: type) -> dict[str, tuple[Any, _Declared]]:
    """The type of each field of a class and its bases, and the field, in their order."""
    found: dict[str, tuple[Any, _Declared]] = {}
    for base in reversed(class_.__mro__):
        own: _Own | None = vars(base).get(_OWN)
        if own is None:
            continue
        for name, kind in own.types.items():
            found[name] = (kind, _to_field(own.values.get(name, MISSING)).of_class(kw_only=own.kw_only))
    return found


def _initialiser(class_: type, declared: Mapping[str, tuple[Any, _Declared]]) -> Any:
    """`__init__` alone, because most classes that are used need no more; the standard library makes three or four."""
    frozen = getattr(class_, _OWN).options["frozen"]
    names: dict[str, Any] = {"_set": object.__setattr__, "_MISSING": MISSING}
    parameters, keywords, lines = ["self"], ["*"], []
    for name, (_, one) in declared.items():
        value, parameter, made = name, name, f"_made_{name}"
        if one.default_factory is not MISSING:
            names[made] = one.default_factory
            value = f"{made}() if {name} is _MISSING else {name}" if one.init else f"{made}()"
            parameter = f"{name}=_MISSING"
        elif one.default is not MISSING:
            names[made] = one.default
            parameter = f"{name}={made}"
            value = name if one.init else made
        elif not one.init:
            continue
        if one.init:
            (keywords if one.kw_only else parameters).append(parameter)
        if not frozen:
            lines.append(f" self.{name} = {value}")
        elif isinstance(slot := getattr(class_, name, None), _SLOT):
            # What a slot itself is set by takes half the time of what looks for it by its name.
            names[f"_set_{name}"] = slot.__set__
            lines.append(f" _set_{name}(self, {value})")
        else:
            lines.append(f" _set(self, {name!r}, {value})")
    if hasattr(class_, "__post_init__"):
        lines.append(" self.__post_init__()")
    listed = ", ".join(parameters + keywords * (len(keywords) > 1))
    return _compile(class_, "__init__", listed, lines or [" pass"], names)


def _equality(class_: type, declared: Mapping[str, tuple[Any, _Declared]]) -> Any:
    compared = [name for name, (_, one) in declared.items() if one.compare]
    mine, others = (_tuple_of(instance, compared) for instance in ("self", "other"))
    lines = [" if other.__class__ is self.__class__:", f"  return {mine} == {others}", " return NotImplemented"]
    return _compile(class_, "__eq__", "self, other", lines, {})


def _hash(class_: type, declared: Mapping[str, tuple[Any, _Declared]]) -> Any:
    counted = [name for name, (_, one) in declared.items() if (one.compare if one.hash is None else one.hash)]
    return _compile(class_, "__hash__", "self", [f" return hash({_tuple_of('self', counted)})"], {})


def _positional(_: type, declared: Mapping[str, tuple[Any, _Declared]]) -> tuple[str, ...]:
    return tuple(name for name, (_, one) in declared.items() if one.init and not one.kw_only)


def _tuple_of(instance: str, names: Sequence[str]) -> str:
    return f"({''.join(f'{instance}.{name}, ' for name in names)})"


def _compile(class_: type, name: str, parameters: str, lines: Sequence[str], names: dict[str, Any]) -> Any:
    """A method of a class. Nothing of it comes from outside: the names are those of the fields."""
    exec("\n".join([f"def {name}({parameters}):", *lines]), names)  # noqa: S102
    names[name].__qualname__ = f"{class_.__qualname__}.{name}"
    return names[name]


_GENERATED: Mapping[str, Callable[[type, Mapping[str, tuple[Any, _Declared]]], Any]] = {
    "__init__": _initialiser,
    "__eq__": _equality,
    "__hash__": _hash,
    "__match_args__": _positional,
}
"""What is made here, because classes that are used need it; what is rarer the standard library makes."""


def _refuse_to_set(_: object, name: str, __: object) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: object, name: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in _fields(type(self))]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(_fields(type(self)), state, strict=True):
        object.__setattr__(self, name, value)
