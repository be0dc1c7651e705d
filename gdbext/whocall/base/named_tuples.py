"""typing's NamedTuple in a small part of the time: importing `typing`, and having it judge the
annotation of each field, takes as long as the backtrace of a short stack.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    class _Maker(type):
        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = [*body["__annotations__"]]
            values = [body[field] for field in fields if field in body]
            made = namedtuple(name, fields, defaults=values, module=body["__module__"])
            for key, value in body.items():
                if key not in fields and key not in ("__module__", "__qualname__"):
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_Maker):
        """A class that names this as its base is a tuple whose fields are its annotations."""
