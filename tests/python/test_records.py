"""Records beside the standard dataclasses that they stand for."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from whocall.base.model import Stop
from whocall.base.records import dataclass, replace


@dataclass(frozen=True)
class Ours:
    first: int
    second: str = "two"
    third: tuple[int, ...] = ()

    @property
    def doubled(self) -> int:
        return 2 * self.first


@dataclasses.dataclass(frozen=True)
class Theirs:
    first: int
    second: str = "two"
    third: tuple[int, ...] = ()


MADE: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((1,), {}),
    ((1, "b"), {"third": (3,)}),
    ((), {"first": 1, "third": ()}),
]
WRONG: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((), {}),
    ((1, "b", (), 4), {}),
    ((1,), {"first": 1}),
    ((1,), {"fourth": 4}),
    ((), {"second": "b"}),
]


@pytest.mark.parametrize(("values", "named"), MADE)
def test_made_shown_and_compared_as_a_dataclass(
    values: tuple[Any, ...], named: dict[str, Any]
) -> None:
    ours, theirs = Ours(*values, **named), Theirs(*values, **named)
    assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert hash(ours) == hash(theirs)
    assert ours == Ours(*values, **named)
    assert ours != theirs
    assert ours != Ours(7)


@pytest.mark.parametrize(("values", "named"), WRONG)
def test_refuses_what_a_dataclass_refuses(values: tuple[Any, ...], named: dict[str, Any]) -> None:
    for kind in (Ours, Theirs):
        with pytest.raises(TypeError):
            kind(*values, **named)


def test_frozen() -> None:
    ours = Ours(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        ours.first = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del ours.first  # type: ignore[misc]
    assert ours == Ours(1)


def test_the_standard_functions_take_them() -> None:
    ours = Ours(1)
    assert dataclasses.is_dataclass(ours)
    assert [field.name for field in dataclasses.fields(ours)] == ["first", "second", "third"]
    assert dataclasses.replace(ours, first=4) == replace(ours, first=4) == Ours(4)
    assert dataclasses.astuple(ours) == (1, "two", ())
    with pytest.raises(TypeError):
        replace(ours, fourth=4)  # type: ignore[call-arg]


def test_copied_and_pickled() -> None:
    stop = Stop("main", "of the program")
    assert copy.deepcopy(stop) == stop
    assert pickle.loads(pickle.dumps(stop)) == stop
    assert Ours(3).doubled == 6
