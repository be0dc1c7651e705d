"""The true names of a file's functions, by the symbols of its unstripped twin, and what contradicts
them: at the first and the last byte of each function and in between, a name is true only when the
function that really lies there has it.
"""

from __future__ import annotations

import array
import functools
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from oracles import objdump_table

from acceptance.helpers.function_tables import code_sections, plain
from whocall import Search, demangle, open_symbols
from whocall.base.native_module import native
from whocall.base.process_image import open_names

SPELLINGS = {
    # The demangler's words for these types, and what it writes for their members.
    "std::iostream": "std::basic_iostream<char, std::char_traits<char> >",
    "std::istream": "std::basic_istream<char, std::char_traits<char> >",
    "std::ostream": "std::basic_ostream<char, std::char_traits<char> >",
}

INFERRED = ("entry", "vtable", "message", "signature", "registration", "initializer", "part")
NOTHING = 0xFFFFFFFF

_GO_TYPES = re.compile(r"\[.*\]")
_GO_INTERFACE = re.compile(r"\.abi(?:0|internal)$")
_CLONE = re.compile(r"\.(?:cold|part|constprop|isra|lto_priv|localalias)(?:\.\d+)*")
_PART = re.compile(r"\.cold(?:\.\d+)*$")


@dataclass
class Truth:
    """Where functions lie (sizes of the twin's symbols) and all names of each place."""

    starts: list[int]  # ascending, distinct, of functions that have a size
    ends: dict[int, int]  # of each start, that of its longest symbol
    names: dict[int, set[str]]  # at each start and label, as stored, without versions
    reach: int  # bytes that the longest function has

    @functools.cached_property
    def places(self) -> dict[str, list[int]]:
        """Where a name stands: many files have static functions of the same one."""
        found: dict[str, list[int]] = defaultdict(list)
        for at, names in self.names.items():
            for name in names:
                found[name].append(at)
        return found

    def names_covering(self, address: int) -> set[str]:
        """All names of all functions that cover an address: hand-written code nests them."""
        found = set(self.names.get(address, ()))
        at = bisect_right(self.starts, address)
        while at and self.starts[at - 1] + self.reach > address:
            at -= 1
            if self.ends[self.starts[at]] > address:
                found |= self.names[self.starts[at]]
        return found


def truth_of(twin: Path) -> Truth:
    """By `objdump -t` of the twin, or of a debug file."""
    code = code_sections(twin)
    ends: dict[int, int] = {}
    names: dict[int, set[str]] = defaultdict(set)
    for each in objdump_table.symbols(twin):
        if each.section not in code or "d" in each.flags or not each.name:
            continue
        names[each.address].add(plain(each.name))
        if each.is_function and each.size:
            ends[each.address] = max(ends.get(each.address, 0), each.address + each.size)
    reach = max((end - start for start, end in ends.items()), default=0)
    return Truth(sorted(ends), ends, dict(names), reach)


def _words(name: str) -> set[str]:
    """A true name as it may be shown by sources that infer: without parameters and clone suffix."""
    whole = _CLONE.sub("", name)
    shown = demangle(whole)
    # glibc's name of a function for calls of its own. Its part lies in the symbols by this name.
    public = name.removeprefix("__GI_")
    words = {name, whole, shown, _without_parameters(shown), public}
    # The part of a clone is called f.isra.0.cold.
    return words | {f"{whole}.cold"} if _PART.search(name) else words


def _without_parameters(shown: str) -> str:
    """`(anonymous namespace)::f` of `(anonymous namespace)::f(int, (anonymous namespace)::T)`."""
    depth = 0
    for at in range(shown.rfind(")"), -1, -1):
        depth += (shown[at] == ")") - (shown[at] == "(")
        if depth == 0:
            return shown[:at] or shown
    return shown


def is_true(name: str, source: str, true: Iterable[str]) -> bool:
    """Whether one of the names agrees with what we say.

    The slot of a virtual table tells the class and no more, and that of an array of initializers no
    name at all (test_initializers.py judges those), nor does the text beside which a function is
    registered (test_registrations.py); `__func__` tells no namespace, no
    parameters, and in a clone the name of the function that it was cloned from. Go's function table
    leaves out which binary interface a function has, and before Go 1.21 the types of an instance.
    It writes the middle dot where the symbol has a plain one.
    """
    if source in ("initializer", "registration"):
        return True
    owner, slot, _ = name.partition("::[slot ")
    if source == "vtable" and slot:
        owners = {owner, SPELLINGS.get(owner, owner)}
        return any(f"{each}::" in demangle(one) for each in owners for one in true)
    if source in ("message", "entry"):
        words = {word for one in true for word in _words(one)}
        return name in words or any(word.endswith(f"::{name}") for word in words)
    if source == "pclntab":
        name = name.replace("·", ".")
        plain_ones = [_GO_INTERFACE.sub("", one) for one in true]
        return any(name in (one, _GO_TYPES.sub("[...]", one)) for one in plain_ones)
    return name in true


@dataclass
class Verdict:
    """What a file's names come to, held against its twin."""

    functions: int = 0  # of the twin
    named: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))  # true, by source
    wrong: dict[str, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    bounds: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))  # true starts
    astray: dict[int, str] = field(default_factory=dict)  # said to lie in an earlier function

    def share(self, source: str) -> float:
        """Of the twin's functions, how many have a true name from this source, in percent."""
        return 100 * len(self.named[source]) / max(1, self.functions)

    def enter(
        self, answer: Answer, address: int, start: int, truth: Truth, is_right: bool | None = None
    ) -> None:
        """Judge what is said of an address in the true function that begins at `start`, if a name
        was not judged before.
        """
        assert answer.inferred == (answer.source in INFERRED), f"{answer}: marked or not"
        own = truth.names[start]
        if answer.name is None:
            if answer.begins == start:
                self.bounds[answer.source].add(start)
            elif answer.begins < start:
                said = f"{answer.source} sub_{answer.begins:x}"
                self.astray[start] = f"{said}: in truth {sorted(own)}"
            return
        true = own if answer.begins == start else truth.names_covering(address)
        is_start = answer.begins == start or answer.source != "registration"
        if is_right is None:
            is_right = is_start and is_true(answer.name, answer.source, true)
        if is_right:
            self.named[answer.source].add(start)
        else:
            said = f"{answer.name} (+{address - answer.begins})"
            self.wrong[answer.source][start] = f"{address:#x}: {said}, in truth {sorted(own)}"


@dataclass(frozen=True)
class Answer:
    """What is said of an address; no name for `sub_` and the start."""

    name: str | None  # as stored
    source: str
    inferred: bool
    begins: int


def samples(start: int, end: int) -> Iterator[int]:
    """First byte, last byte, and some in between."""
    size = end - start
    yield from sorted({start, start + 1, start + size // 3, start + 2 * size // 3, end - 1} - {end})


def _places(truth: Truth) -> Iterator[tuple[int, int]]:
    for start in truth.starts:
        for address in samples(start, truth.ends[start]):
            yield address, start


def owner_is_right(name: str, own: Iterable[str], truth: Truth, names: native.FileNames) -> bool:
    """Whether a part is one of the function that it is called after, by one of the symbols there,
    or by what is said of it, which is judged at its own place.
    """
    whole = name.removesuffix(" [clone .cold]").removesuffix(".cold")
    owners = {at for one in own for at in truth.places.get(_PART.sub("", one), ())}
    return any(_PART.search(one) for one in own) and any(
        whole in map(demangle, truth.names[at]) or names.describe(at, False).raw_name == whole
        for at in owners
    )


def judge(stripped: Path, truth: Truth, search: Search) -> Verdict:
    """Ask for several addresses in each true function what `whocall symbol` would print there."""
    names = open_names(str(stripped), search=search)
    verdict = Verdict(functions=len(truth.starts))
    for address, start in _places(truth):
        place = names.describe(address, False)
        if place.offset is not None:
            source, begins = str(place.name_source), address - place.offset
            answer = Answer(place.raw_name, source, place.inferred, begins)
            is_right = None
            if answer.source == "part" and answer.name is not None:
                is_right = owner_is_right(answer.name, truth.names[start], truth, names)
            verdict.enter(answer, address, start, truth, is_right)
    table = native.functions(str(stripped))
    for start, _, name, source, *_ in (table[at] for at in range(len(table))):
        if source == "part" and not any(map(_PART.search, truth.names.get(start, ()))):
            verdict.wrong["part"][start] = f"{start:#x}: {name}, in truth no part begins there"
    return verdict


def judge_table(path: Path, truth: Truth, search: Search) -> Verdict:
    """The same by the sorted table alone: no inferred names, no source lines."""
    table = open_symbols(str(path), search=search)
    places = list(_places(truth))
    found = array.array("I", table.find_many(array.array("Q", [each[0] for each in places])))
    symbols = {at: table[at] for at in set(found) if at != NOTHING}
    answers = {
        at: Answer(each.name if each.named else None, each.source, each.inferred, each.start)
        for at, each in symbols.items()
    }
    verdict = Verdict(functions=len(truth.starts))
    for (address, start), at in zip(places, found):
        if at != NOTHING:
            verdict.enter(answers[at], address, start, truth)
    return verdict
