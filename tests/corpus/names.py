"""Two names for an address: the true one (from the twin) and the visible one (from .dynsym)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from corpus.build import Binaries
from corpus.corefile import EXECUTABLE, Core
from corpus.elf import PT_LOAD, Elf, ElfError

PAGE = 4096
DEBUG_ROOT = Path("/usr/lib/debug/.build-id")


@dataclass(frozen=True)
class Names:
    """All names of an address, best first; aliases (raise, gsignal) are all there."""

    true: tuple[str, ...]
    visible: tuple[str, ...]
    module: str | None
    link_address: int | None


@dataclass(frozen=True)
class Module:
    """A file in memory: the stripped one that ran and its twin with the same addresses."""

    path: str
    bias: int
    stripped: Elf
    full: Elf


@cache
def _load(path: Path) -> Elf:
    return Elf(path.read_bytes())


def debug_file(path: Path) -> Path | None:
    """The debug file of one of the system's files, where it is installed."""
    try:
        build_id = _load(path).build_id()
    except ElfError:  # a program maps other files as well
        return None
    debug = DEBUG_ROOT / build_id[:2] / f"{build_id[2:]}.debug" if build_id else None
    return debug if debug is not None and debug.exists() else None


def _with_symbols(path: Path, twins: dict[Path, Path]) -> Elf:
    """The twin of our own files; of the system's, the debug file where one is installed."""
    if path in twins:
        return Elf(twins[path].read_bytes())
    return _load(debug_file(path) or path)


class ModuleMap:
    """The modules of a process, by runtime address."""

    def __init__(self, core: Core, binaries: Binaries) -> None:
        twins = dict(
            zip(
                (binaries.exe.resolve(), *(lib.resolve() for lib in binaries.libs)),
                (binaries.twin, *binaries.lib_twins),
                strict=True,
            )
        )
        self._core = core
        self._ranges: list[tuple[int, int, Module]] = []
        modules: dict[str, Module] = {}
        for mapping in core.mappings:
            path = Path(mapping.path)
            if mapping.path not in modules and mapping.offset == 0 and path.is_file():
                data = path.open("rb").read(4)
                if data != b"\x7fELF":
                    continue
                stripped = Elf(path.read_bytes()) if path in twins else _load(path)
                first = min(
                    segment.address for segment in stripped.segments if segment.kind == PT_LOAD
                )
                modules[mapping.path] = Module(
                    mapping.path,
                    mapping.start - first // PAGE * PAGE,
                    stripped,
                    _with_symbols(path, twins),
                )
            if mapping.path in modules:
                self._ranges.append((mapping.start, mapping.end, modules[mapping.path]))
        if core.vdso is not None:
            start, image = core.vdso
            self._ranges.append(
                (start, start + len(image.data), Module("[vdso]", start, image, image))
            )

    def module(self, address: int) -> Module | None:
        """The module mapped at a runtime address."""
        return next((module for start, end, module in self._ranges if start <= address < end), None)

    def exe_module(self, exe: Path) -> Module:
        """The executable itself."""
        path = str(exe.resolve())
        return next(module for _, _, module in self._ranges if module.path == path)

    def names(self, address: int) -> Names:
        """The names at exactly this runtime address: nothing is stepped back here."""
        module = self.module(address)
        if module is None:
            return Names((), (), None, None)
        link = address - module.bias
        visible = tuple(symbol.name for symbol in module.stripped.dynsym.covering(link))
        true = tuple(symbol.name for symbol in module.full.symtab.covering(link)) or visible
        return Names(true, visible, module.path, link)

    def begins_function(self, address: int) -> bool:
        """Whether a symbol starts at exactly this runtime address."""
        module = self.module(address)
        return module is not None and any(
            symbol.start == address - module.bias
            for symbol in module.full.symtab.covering(address - module.bias)
        )

    def is_code(self, address: int) -> bool:
        """Whether a runtime address is executable by its file (cores may leave code out).

        In memory without a file, such as that of a just-in-time compiler, the core says it.
        """
        module = self.module(address)
        if module is None:
            return self._core.is_executable(address)
        link = address - module.bias
        return any(
            segment.kind == PT_LOAD
            and segment.flags & EXECUTABLE
            and segment.address <= link < segment.address + segment.memory_size
            for segment in module.stripped.segments
        )

    def code(self, address: int, size: int) -> bytes:
        """Instruction bytes at a runtime address, out of the file (cores leave text out)."""
        module = self.module(address)
        if module is None:
            return b""
        link = address - module.bias
        for segment in module.stripped.segments:
            if (
                segment.kind == PT_LOAD
                and segment.address <= link < segment.address + segment.file_size
            ):
                at = segment.offset + link - segment.address
                return module.stripped.data[at : at + size]
        return b""
