"""What is measured, a function each; names of figures begin with the subject's."""

from __future__ import annotations

from collections.abc import Callable

from bench.figures import Figures
from bench.subjects import addresses, api, functions, in_gdb, known, native, repair, stacks
from bench.workshop import Workshop

SUBJECTS: dict[str, Callable[[Workshop], Figures]] = {
    "crowd": stacks.crowd,
    "in-gdb": in_gdb.in_gdb,
    "deep": stacks.deep,
    "clang": stacks.compiler,
    "perl": stacks.interpreter,
    "small": stacks.small,
    "walk": native.walk,
    "api": api.api,
    "functions": functions.functions,
    "addresses": addresses.addresses,
    "tables": native.tables,
    "look-ups": native.look_ups,
    "orders": native.orders,
    "repair": repair.repair,
    "known": known.known,
}
