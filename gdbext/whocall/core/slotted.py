"""Dataclasses without a dictionary in each object, for Pythons whose own know no `slots=True`."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__slots__]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__slots__, state):
        object.__setattr__(self, name, value)


def slotted(cls: Class) -> Class:
    """The dataclass again, with its fields as slots. Frozen ones can still be copied."""
    names = tuple(field.name for field in fields(cls))
    left_out = {*names, "__dict__", "__weakref__"}
    members = {name: value for name, value in vars(cls).items() if name not in left_out}
    members.update(__slots__=names, __getstate__=_state, __setstate__=_set_state)
    made = type(cls)(cls.__name__, cls.__bases__, members)
    made.__qualname__ = cls.__qualname__
    return made
