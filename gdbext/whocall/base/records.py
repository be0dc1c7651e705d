"""Frozen dataclasses in a small part of the time.

Importing the standard module, and having it write and compile the methods of a dozen classes,
takes longer than the backtrace of a short stack. These have the methods in common. The functions of
`dataclasses` (replace, fields, asdict) take them as its own; that module is loaded then.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing for it would be as dear

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import replace as replace
    from typing import TypeVar

    Class = TypeVar("Class", bound=type)

    def slotted(cls: Class) -> Class: ...
else:

    class _Fields:
        """`__dataclass_fields__` of a class, made when it is first asked for."""

        def __get__(self, record, owner):
            import dataclasses

            annotations = {name: owner.__annotations__[name] for name in owner.__match_args__}
            body = {"__annotations__": annotations, **owner._defaults}
            twin = dataclasses.dataclass(frozen=True)(type(owner.__name__, (), body))
            owner.__dataclass_fields__ = twin.__dataclass_fields__
            owner.__dataclass_params__ = twin.__dataclass_params__
            return owner.__dataclass_fields__

    def _init(self, *values, **named):
        names = self.__match_args__
        if len(values) == len(names) and not named:
            self._hold(dict(zip(names, values)))
        elif not values and named.keys() == self._names:
            self._hold(named)
        else:
            self._hold(_completed(self, values, named))

    def _completed(self, values, named):
        names = self.__match_args__
        given = dict(zip(names, values))
        if len(values) > len(names) or not given.keys().isdisjoint(named):
            raise TypeError(f"{type(self).__name__}() takes each of {', '.join(names)} once")
        held = {**self._defaults, **given, **named}
        if len(held) != len(names) or not held.keys() <= self._names:
            unlike = sorted(self._names.symmetric_difference(held))
            raise TypeError(f"{type(self).__name__}(): missing or unknown: {', '.join(unlike)}")
        return held

    def _hold(self, held):
        self.__dict__.update(held)

    def _hold_in_slots(self, held):
        for name in self.__match_args__:
            object.__setattr__(self, name, held[name])

    def _setattr(self, name, value):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _delattr(self, name):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _values(record):
        return tuple([getattr(record, name) for name in record.__match_args__])

    def _repr(self):
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{type(self).__qualname__}({told})"

    def _eq(self, other):
        return _values(self) == _values(other) if type(other) is type(self) else NotImplemented

    def _hash(self):
        return hash(_values(self))

    def replace(record, **changes):
        """A copy in which the fields that `changes` names are others."""
        return type(record)(**{**dict(zip(record.__match_args__, _values(record))), **changes})

    _METHODS = {
        "__init__": _init,
        "_hold": _hold,
        "__setattr__": _setattr,
        "__delattr__": _delattr,
        "__repr__": _repr,
        "__eq__": _eq,
        "__hash__": _hash,
        "__replace__": replace,
    }

    def dataclass(*, frozen):
        """Makes of the annotated names of a class, with their defaults, what dataclasses makes.

        Only frozen ones without a base, and no field() in them: for anything else take the
        standard module.
        """
        assert frozen

        def made(cls):
            cls.__match_args__ = tuple(cls.__annotations__)
            cls._names = frozenset(cls.__match_args__)
            cls._defaults = {
                name: cls.__dict__[name] for name in cls.__match_args__ if name in cls.__dict__
            }
            cls.__dataclass_fields__ = _Fields()
            for name, method in _METHODS.items():
                if name not in cls.__dict__:
                    setattr(cls, name, method)
            return cls

        return made

    def slotted(cls):
        """The record class again, without a dictionary in each object."""
        names = cls.__match_args__
        left_out = {*names, "__dict__", "__weakref__"}
        members = {name: value for name, value in vars(cls).items() if name not in left_out}
        members.update(
            __slots__=names,
            _hold=_hold_in_slots,
            __getstate__=_values,
            __setstate__=lambda self, state: self._hold(dict(zip(names, state))),
        )
        made = type(cls)(cls.__name__, cls.__bases__, members)
        made.__qualname__ = cls.__qualname__
        return made
