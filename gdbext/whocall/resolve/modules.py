"""Which file lends names to a module that a log speaks of, and what it calls an address."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from whocall.base.elf_head import PAGE, ElfHead
from whocall.base.errors import Error
from whocall.base.file_search import Search
from whocall.base.native_errors import native_errors
from whocall.base.process_image import open_names, open_symbols
from whocall.base.records import replace
from whocall.resolve.facts.place import Answer
from whocall.resolve.load_address import load_bias
from whocall.resolve.stores import Found, Stores, base_name, same_build
from whocall.resolve.trampolines import is_trampoline

if TYPE_CHECKING:
    import whocall._native as native
    from whocall.resolve.facts.context import Context

_MOST_ANSWERS = 1 << 16  # kept of one module
MOST_MODULES = 1 << 14  # that a log may name: each costs memory, and look-ups on disk


class Module:
    """A file that a log speaks of, and the file here that is the same build, if there is one."""

    def __init__(self, name: str, build_id: str | None) -> None:
        self.name = name
        self.build_id = build_id
        self.found: Found | None = None
        self.damaged: set[str] = set()  # paths of files that turned out to be so
        self.code: ElfHead | None = None  # of a file with code, the same or another
        self.verified = False
        self.others: list[Found] = []  # of another build
        self.remarks: list[str] = []  # whole sentences
        self.places = 0  # how often it was asked for
        self._names: native.FileNames | None = None
        self._answers: dict[tuple[int, int], Answer] = {}

    @property
    def state(self) -> str:
        """ "found", "missing", or "MISMATCH": there are files of that name, of other builds."""
        if self.found is not None:
            return "found"
        return "MISMATCH" if self.others else "missing"

    @property
    def head(self) -> ElfHead | None:
        """Of the file with code, else of the one with names."""
        return self.code or (self.found.head if self.found is not None else None)

    def answer(self, rva: int, back: int, search: Search, demangle: bool) -> Answer | None:
        """What stands at the link address `rva`; of a caller `back` is 1, and what stands before it
        counts. None where the file turns out to be damaged: another one is to be found.
        """
        known = self._answers.get((rva, back))
        if known is None:
            if len(self._answers) >= _MOST_ANSWERS:
                self._answers.clear()
            known = self._look_up(rva, back, search, demangle)
            if known is not None:
                self._answers[rva, back] = known
        return known

    def _look_up(self, rva: int, back: int, search: Search, demangle: bool) -> Answer | None:
        answer = Answer(module=self.name, build_id=self.build_id, rva=rva, caller=back != 0)
        if self.found is None or rva < back:
            return answer
        if self.code is not None and is_trampoline(self.code, rva):
            answer = replace(answer, trampoline=True, caller=False)
            back = 0  # nobody called it: the address is where it begins
        try:
            names = self._open(search)
            with native_errors():
                place = names.describe(rva - back, demangle)
        except Error as error:
            self.remarks.append(f"{str(error).rstrip('.')}: it lends no names.")
            self.damaged.add(self.found.path)
            self.found = self._names = None
            return None
        return replace(
            answer,
            file=self.found.path,
            build_id=self.build_id or self.found.build_id or None,
            verified=self.verified,
            function=place.function,
            offset=None if place.offset is None else place.offset + back,
            name_source=self._source(place.name_source),
            inferred=place.inferred,
            lines=_with_function(place),
        )

    def _source(self, told: str | None) -> str | None:
        """A debug file that is read by itself is one all the same."""
        head = self.found.head if self.found is not None else None
        apart = head is not None and not head.has_code
        return "debug-file" if apart and told == "symtab" else told

    def _open(self, search: Search) -> native.FileNames:
        if self._names is None:
            assert self.found is not None
            self._names = open_names(self.found.path, search=search)
            if self._names.remark and not self.found.worth:
                self.remarks.append(self._names.remark)
        return self._names


class Modules:
    """All modules of a log."""

    def __init__(self, search: Search, demangle: bool, exe: str = "") -> None:
        """`search.directories` are looked through with all that lies below them."""
        self.known: dict[tuple[str, str | None], Module] = {}
        self._are_too_many = False
        self._starts: dict[str, dict[str, list[int]]] = {}  # by path
        self._exe = exe
        self._search = search
        self._demangle = demangle
        self._stores = Stores(search.directories)
        self._system = Stores(search.debug_directories)

    def module(self, name: str, build_id: str | None) -> Module:
        """The module of this path (or last part of one) and build, in which a place lies."""
        module = self._module(name, build_id)
        module.places += 1
        return module

    def _module(self, name: str, build_id: str | None) -> Module:
        key = (name, build_id)
        module = self.known.get(key)
        if module is None and len(self.known) >= MOST_MODULES:
            self._are_too_many = True
            return Module(name, build_id)
        if module is None:
            module = self.known[key] = Module(name, build_id)
            self._find(module)
        return module

    def answer(self, module: Module, rva: int, back: int) -> Answer:
        """What stands at a link address."""
        answer = module.answer(rva, back, self._search, self._demangle)
        while answer is None:
            self._find(module)
            answer = module.answer(rva, back, self._search, self._demangle)
        return answer

    def asked_for(self) -> list[Module]:
        """Those in which places lie."""
        return [module for module in self.known.values() if module.places]

    def left_out(self) -> Iterator[str]:
        """Sentences on what was not looked for, or not looked at."""
        yield from self._stores.remarks()
        if self._are_too_many:
            yield (
                f"the log speaks of more than {MOST_MODULES:,} files, and the rest was not looked"
                " for: give its parts one by one"
            )

    def _loaded_program(self, stack: list[int], exe: str | None) -> tuple[str, int] | None:
        """The program on whose stack these return addresses were, and its load bias: `exe` where
        there is a file of that path or name, else the one of all in the user's directories that
        fits.
        """
        heads: Iterable[ElfHead | None] = self._stores.programs()
        if exe is not None:
            own = exe == self._exe or _is_of_disk(exe)
            here = self._stores.there([exe]) if own else iter(())
            named = [*here, *self._stores.at(exe), *self._stores.called(exe)]
            heads = [found.head for found in named] or heads
        fits: dict[str, tuple[str, int]] = {}
        for head in heads:
            bias = load_bias(head, stack) if head is not None else None
            if head is not None and bias is not None:
                fits.setdefault(head.build_id or head.path, (head.path, bias))
        return next(iter(fits.values())) if len(fits) == 1 else None

    def loaded(self, name: str, stack: list[int], context: Context) -> tuple[str, int] | None:
        """Path and load bias of the file that the log calls so, by the return addresses that lie in
        it; "" stands for the program.
        """
        if name == "":
            return self._loaded_program(stack, context.program)
        code = self._module(name, context.build_id_of(name)).code
        bias = load_bias(code, stack) if code is not None else None
        return None if bias is None else (name, bias)

    def is_called(self, name: str) -> bool:
        """Whether there is a file of this path or name where the user has said to look."""
        here = self._stores.there([name]) if _is_of_disk(name) else iter(())
        found = (*self._stores.at(name), *self._stores.called(name), *here)
        return bool(found)

    def by_symbol(
        self, module: Module, symbol: str, offset: int, address: int | None
    ) -> int | None:
        """The link address that lies so many bytes behind the beginning of a function that the log
        names. Of several of that name the one that fits the runtime address; else None.
        """
        starts = self._starts_of(module.found).get(symbol, ())
        found = [start + offset for start in starts]
        if address is not None:
            found = [rva for rva in found if (address - rva) % PAGE == 0]
        return found[0] if len(set(found)) == 1 else None

    def _starts_of(self, found: Found | None) -> dict[str, list[int]]:
        """Where functions begin, by name as the linker knows it. A log may call one file by
        thousands of paths: what is known of it is kept once.
        """
        if found is None or found.head is None:
            return {}
        known = self._starts.get(found.path)
        if known is None:
            known = self._starts[found.path] = {}
            try:
                table = open_symbols(found.path, search=self._search)
            except Error:
                return known
            for at in range(len(table)):
                each = table[at]
                known.setdefault(each.name, []).append(each.start)
        return known

    def _find(self, module: Module) -> None:
        build_id = module.build_id
        if build_id is None:
            chosen = self._by_name(module)
            if chosen is None:
                return
            build_id = chosen.build_id
            candidates = [chosen]
        else:
            candidates = []
            module.verified = True
        candidates += self._of_build(module, build_id) if build_id else []
        if not candidates and build_id:
            candidates += self._fetched(module, build_id)
        if not candidates:
            return
        module.found = max(candidates, key=lambda each: each.worth)
        heads = [each.head for each in candidates if each.head is not None and each.head.has_code]
        module.code = heads[0] if heads else None

    def _of_build(self, module: Module, build_id: str) -> list[Found]:
        """What there is of a build, up to a file with lines of source."""
        taken: list[Found] = []
        for found in self._all_of_build(module, build_id):
            if found.path not in [each.path for each in taken]:
                taken.append(found)
            if found.worth == 2:
                break
        return taken

    def _all_of_build(self, module: Module, build_id: str) -> Iterator[Found]:
        for found in self._every_one(module, build_id):
            if found.path not in module.damaged:
                yield found

    def _every_one(self, module: Module, build_id: str) -> Iterator[Found]:
        here = self._stores.there([module.name]) if _is_of_disk(module.name) else iter(())
        for found in (*self._by_path(module), *here):
            if same_build(build_id, found.build_id):
                yield found
            elif found.path not in [each.path for each in module.others]:
                module.others.append(found)
        name = base_name(module.name)
        yield from self._stores.of_build(build_id, name)
        yield from self._system.of_build(build_id, name, everywhere=False)

    def _by_path(self, module: Module) -> Iterator[Found]:
        """Files at the places where one of that name would lie; the user's own first."""
        if self._exe and base_name(self._exe) == base_name(module.name):
            yield from self._stores.there([self._exe])
        yield from self._stores.at(module.name)

    def _by_name(self, module: Module) -> Found | None:
        """Nobody has told the build: the first file at such a place, else the only one of that name
        in the user's directories, else the one that lies here where the log says.
        """
        for found in self._by_path(module):
            if found.path not in module.damaged:
                return found
        called = [
            each for each in self._stores.called(module.name) if each.path not in module.damaged
        ]
        if len({found.build_id or found.path for found in called}) > 1:
            module.remarks.append(
                f"{called[0].path} and {called[1].path} are two builds of {module.name}, and the "
                "log does not tell which: it lends no names; give the directory of the one that ran"
            )
            return None
        here = self._stores.there([module.name]) if _is_of_disk(module.name) else iter(())
        found_here = (each for each in here if each.path not in module.damaged)
        return next(iter(called), None) or next(found_here, None)

    @cached_property
    def _servers(self) -> native.FileSearch:
        return self._search.native()

    def _fetched(self, module: Module, build_id: str) -> list[Found]:
        if not self._search.debuginfod:
            return []
        with native_errors():
            path, remark = self._servers.fetch(build_id, module.name)
        if remark:
            module.remarks.append(remark)
        found = self._stores.look(path) if path and path not in module.damaged else None
        return [found] if found is not None else []


def _is_of_disk(path: str) -> bool:
    """Whether a file of this path may be that of the log's machine: what the kernel shows there is
    of this machine's own processes and devices, and whoever wrote the log does not choose of them.
    """
    parts = posixpath.normpath("/" + path.lstrip("/")).split("/") if path[:1] == "/" else []
    return "/" in path and parts[1:2] not in (["proc"], ["sys"], ["dev"])


def _with_function(place: native.Place) -> tuple[tuple[str, str, int], ...]:
    """Lines of source; the function itself is called as its symbol is, which says more than debug
    info does of lambdas and templates.
    """
    lines = list(place.lines)
    if lines and place.function is not None and place.raw_name is not None and not place.inferred:
        lines[-1] = (place.function, *lines[-1][1:])
    return tuple(lines)
