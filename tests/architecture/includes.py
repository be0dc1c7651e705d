"""Headers of the standard library that sources use without including them: one release's library
brings them by another header, the next one's does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

# What is used, by the header that brings it.
USES = {
    "algorithm": r"ranges::(?:find|sort|any_of|all_of|find_if|copy)\b|(?:min|max|clamp)\(",
    "array": r"array<",
    "charconv": r"(?:from|to)_chars\b",
    "cstddef": r"(?:size_t|byte|ptrdiff_t)\b",
    "cstdint": r"u?int(?:_fast|_least)?(?:\d+|ptr|max)_t\b",
    "cstring": r"(?:memcpy|memcmp|memchr|strlen|strcmp|strerror)\b",
    "functional": r"function<",
    "limits": r"numeric_limits<",
    "map": r"(?:multi)?map<",
    "memory": r"(?:unique_ptr|shared_ptr|make_unique|make_shared)\b",
    "mutex": r"(?:mutex|lock_guard)\b",
    "optional": r"(?:optional|nullopt)\b",
    "set": r"set<",
    "span": r"span\b",
    "string": r"(?:string|to_string)\b",
    "string_view": r"string_view\b",
    "tuple": r"(?:tie|tuple)\b",
    "unordered_map": r"unordered_map<",
    "utility": r"(?:move|exchange|pair|forward|swap)\b",
    "variant": r"variant\b",
    "vector": r"vector\b",
}  # fmt: skip
_PATTERNS = {header: re.compile(rf"\bstd::(?:{uses})") for header, uses in USES.items()}


def missing(sources: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Of texts by the paths by which they include each other: which lacks which header. What one of
    our own headers includes need not be included again.
    """

    @cache
    def included(path: str) -> frozenset[str]:
        found = set(re.findall(r'#include [<"]([^>"]+)[>"]', sources[path]))
        return frozenset(found.union(*(included(one) for one in found if one in sources)))

    for path, text in sources.items():
        code = re.sub(r"//.*", "", text)
        for header, pattern in _PATTERNS.items():
            if pattern.search(code) and header not in included(path):
                yield path, header


def texts(folder: Path) -> dict[str, str]:
    """Of all C++ sources below `folder`."""
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for kind in ("*.h", "*.cpp")
        for path in sorted(folder.rglob(kind))
    }
