"""Names of unnamed namespaces in the sources of a library, which may be compiled a dozen as one."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

UNITS = 21
ALONE = ("runtime", "python", "object/bfd", "object/dw")  # other libraries than the core

_OPENS = re.compile(r"namespace(?: ([\w:]+))? \{")
_TYPE = re.compile(r"(?:struct|class|enum class|enum|union)(?: \[\[\w+\]\]| alignas\(.*?\))? (\w+)")
_ALIAS = re.compile(r"using (\w+) =")
_VALUE = re.compile(r"([\w:<>,&*\[\] .()]*?)\b([a-zA-Z]\w*)(?:\[.*?\])* ?(?:=(?!=)|\{|;)")
_FUNCTION = re.compile(r"[\w:<>,&*\[\] ]*?\b(\w+|operator\S+)\((.*)\)")
_NOISE = re.compile(r"//.*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])+'|^[ \t]*#.*$", re.MULTILINE)
_RAW = re.compile(r'R"(\w*)\(.*?\)\1"', re.DOTALL)
_SEPARATOR = re.compile(r"(?<=\d)'(?=\d)")  # 100'000: no character begins there


def _without_noise(text: str) -> str:
    def quoted(match: re.Match[str]) -> str:
        return '""' if match[0][0] == '"' else "0" if match[0][0] == "'" else ""

    return _NOISE.sub(quoted, _SEPARATOR.sub("", _RAW.sub('""', text)))


def _statements(text: str) -> Iterator[tuple[tuple[str | None, ...], str]]:
    """Declarations that stand in namespaces alone, each with its namespaces; None for those without
    a name.
    """
    spaces: list[tuple[str | None, ...]] = [()]
    waiting, depth = "", 0
    for part in re.split(r"([{};])", _without_noise(text)):
        if depth:
            depth += {"{": 1, "}": -1}.get(part, 0)
            if not depth:
                yield spaces[-1], " ".join(waiting.split()) + " {"
                waiting = ""
        elif part == "{":
            opened = _OPENS.fullmatch(" ".join(waiting.split()) + " {")
            if opened:
                spaces.append((*spaces[-1], opened[1]))
                waiting = ""
            else:
                depth = 1
        elif part == "}":
            spaces.pop()
            waiting = ""
        elif part == ";":
            yield spaces[-1], " ".join(waiting.split()) + ";"
            waiting = ""
        else:
            waiting += part


def _parameters(text: str) -> str:
    """The types alone: names of parameters tell no functions apart."""
    pieces, depth, begin = [], 0, 0
    for at, letter in enumerate(text + ","):
        depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            piece = text[begin:at].strip().partition(" = ")[0]
            named = re.fullmatch(r"(.+[\s&*>])(\w+)", piece)
            pieces.append(named[1].strip() if named else piece)
            begin = at + 1
    return ",".join(pieces)


def _name(statement: str) -> str | None:
    """What it declares; a function with its parameters' types."""
    statement = re.sub(r"^template <.*?> (?=\w)", "", statement)
    statement = re.sub(
        r"\[\[[\w:]+\]\] |\b(?:static|inline|constexpr|consteval|extern) ", "", statement
    )
    if statement.startswith(("friend", "using namespace", "static_assert", "return")):
        return None
    for kind in (_TYPE, _ALIAS):
        if found := kind.match(statement):
            return found[1] if not statement.endswith(f"{found[1]};") or kind is _ALIAS else None
    head = re.split(r" (?::|->|noexcept|const|requires) ?(?!.*\()", statement.rstrip(" {;"))[0]
    function = _FUNCTION.match(head)
    if function and "=" not in head.partition("(")[0]:
        if "::" in head.partition("(")[0].rpartition(" ")[2]:
            return None  # a member
        if re.match(r'""|\d', function[2]):
            return function[1]  # a value, by its constructor
        return f"{function[1]}({_parameters(function[2])})"
    value = _VALUE.match(statement)
    return value[2] if value and value[1].strip() else None


def own_names(text: str) -> dict[str, str]:
    """Names in unnamed namespaces, with the named ones around and within, and what a name that may
    be declared twice stands for: another name of a type.
    """
    found = {}
    for spaces, statement in _statements(text):
        name = _name(statement) if None in spaces else None
        if name is not None:
            whole = "::".join([*(each or "" for each in spaces), name])
            found[whole] = statement if _ALIAS.match(statement) else ""
    return found


def shared(sources: list[Path]) -> Iterator[str]:
    """Lines on names that two files of one unit have."""
    homes: dict[str, tuple[Path, str]] = {}
    for path in sources:
        for name, meaning in own_names(path.read_text(encoding="utf-8")).items():
            home, before = homes.setdefault(name, (path, meaning))
            if home != path and not (meaning and meaning == before):
                yield f"{name}: {home} and {path}"


def public_names(text: str) -> set[str]:
    """Functions, types and values of named namespaces alone, as own_names() has them."""
    found = set()
    for spaces, statement in _statements(text):
        name = None if None in spaces else _name(statement)
        if name is not None:
            found.add("::".join([*(each or "" for each in spaces), name]))
    return found


def hiding(sources: list[Path], headers: list[Path]) -> Iterator[str]:
    """Lines on what unnamed namespaces have that is called as something of a header: where both
    are seen, the name of either is ambiguous.
    """
    public = {
        name: path for path in headers for name in public_names(path.read_text(encoding="utf-8"))
    }
    for path in sources:
        for name in own_names(path.read_text(encoding="utf-8")):
            plain = "::".join(each for each in name.split("::") if each)
            if plain in public:
                yield f"{plain}: {path} and {public[plain]}"


def units(sources: list[Path], native: Path) -> dict[int, list[Path]]:
    """Which are compiled as one: see compile_together() in CMakeLists.txt."""
    found: dict[int, list[Path]] = {}
    for path in sources:
        name = "native/" + path.relative_to(native).as_posix()
        digest = hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()
        found.setdefault(int(digest[:6], 16) % UNITS, []).append(path)
    return found
