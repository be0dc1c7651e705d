"""Which real files are judged: at least twenty libraries and twenty executables."""

from __future__ import annotations

import os
from pathlib import Path

from oracles.distribution import only, python_archive
from oracles.linkers import USE_ANOTHER
from oracles.tools import run

from acceptance.helpers import rust_programs
from acceptance.helpers.real_files import (
    EXECUTABLE,
    LIBRARIES,
    LIBRARY,
    PYTHON_MAIN,
    RealFile,
    compiled,
    go_program,
    installed,
    program,
    shared,
    unstripped,
)

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = ROOT / "tests" / "corpus" / "programs"


BUILD = Path(os.environ.get("WHOCALL_BUILD_DIR", ROOT / "build" / "release"))


def _gcc(name: str, machine: str = "-m64") -> Path:
    return Path(run(["gcc", machine, f"-print-file-name={name}"]).strip()).resolve()


def _lib(name: str) -> Path:
    return LIBRARIES / name


def _libraries() -> list[RealFile]:
    whole = {
        "libcrypto": shared(_lib("libcrypto.a"), exports="libcrypto.so.[0-9]"),
        "libssl": shared(_lib("libssl.a"), exports="libssl.so.[0-9]"),
        "libz": shared(_lib("libz.a"), exports="libz.so.1"),
        "liblzma": shared(_lib("liblzma.a"), exports="liblzma.so.5"),
        "libnettle": shared(_lib("libnettle.a"), exports="libnettle.so.[0-9]"),
        "libcapstone": shared(_lib("libcapstone.a"), exports="libcapstone.so.[0-9]"),
        "libstdc++": shared(_gcc("libstdc++.a"), exports="libstdc++.so.6"),
        "libpcre2": shared(_lib("libpcre2-8.a")),
        "libbfd": shared(_lib("libbfd.a")),
        "libpython": shared(python_archive("-pic")),
        "libiberty": shared(_lib("libiberty.a")),
        "libvex": shared(_lib("valgrind/libvex-amd64-linux.a")),
    }
    distribution = ["libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libmvec.so.1",
                    "libresolv.so.2", "libnsl.so.1", "libnss_compat.so.2", "libthread_db.so.1",
                    "libc_malloc_debug.so.0", "libnss_hesiod.so.2"]  # fmt: skip
    perl = ["re/re.so", "POSIX/POSIX.so", "Storable/Storable.so", "B/B.so", "List/Util/Util.so",
            "Compress/Raw/Zlib/Zlib.so", "Encode/Encode.so", "Socket/Socket.so",
            "threads/threads.so"]  # fmt: skip
    auto = only(LIBRARIES, "perl/5.*[0-9]/auto")
    ours = next((BUILD / "whocall").glob("_native*.so"))
    runtimes = {
        f"lib{name}.so": only(LIBRARIES, f"lib{name}.so.[0-9]") for name in ("ubsan", "lsan")
    }
    left = {**runtimes, "whocall's own": ours}
    return [
        *(RealFile(name, LIBRARY, make) for name, make in whole.items()),
        *(RealFile(Path(name).name, LIBRARY, installed(_lib(name))) for name in distribution),
        RealFile("libperl.so", LIBRARY, installed(only(LIBRARIES, "libperl.so.5.*[0-9]"))),
        *(RealFile(f"perl {Path(name).name}", LIBRARY, installed(auto / name)) for name in perl),
        *(RealFile(name, LIBRARY, unstripped(path)) for name, path in left.items()),
    ]


def _executables() -> list[RealFile]:
    binutils = [_lib(name) for name in ("libopcodes.a", "libbfd.a", "libiberty.a", "libz.a")]
    made = {
        "perl": installed(Path("/usr/bin/perl")),
        "debugperl": unstripped(Path("/usr/bin/debugperl")),
        "python": program(python_archive("-pic"), source=PYTHON_MAIN),
        "python no-pie": program(python_archive(), source=PYTHON_MAIN, flags="-no-pie"),
        "opcodes": program(*binutils),
        "opcodes no-pie": program(*binutils, flags="-no-pie -Wl,-z,lazy"),
        "ctf": program(_lib("libctf.a")),
        "zstd": program(_lib("libzstd.a")),
        "expat": program(_lib("libexpat.a")),  # since Debian 13 without code for libraries
        "tasn1": program(_lib("libtasn1.a")),
        "dw": program(_lib("libdw.a"), _lib("libelf.a")),
        "gmp": program(_lib("libgmp.a"), flags=USE_ANOTHER),
        "gomp": program(_gcc("libgomp.a")),
        "itm": program(_gcc("libitm.a"), flags="-fuse-ld=lld"),
        "crypto no-pie": program(_lib("libcrypto.a"), flags="-no-pie"),
        "lzma static": program(_lib("liblzma.a"), flags="-static"),
        "asan": program(_gcc("libasan.a")),
        "static C": compiled(PROGRAMS / "threads.c", "-O2 -static"),
        "static-pie clang": compiled(PROGRAMS / "chain.c", "-O1 -static-pie", "clang"),
        "static i386": compiled(PROGRAMS / "qsort_callback.c", "-Os -m32 -static"),
        "static musl": compiled(PROGRAMS / "assert_fail.c", "-O2 -static", "musl-gcc"),
        "static C++": compiled(PROGRAMS / "virtual_calls.cpp", "-O2 -static", "g++"),
        "static C++ i386": compiled(
            PROGRAMS / "exceptions.cpp", "-O1 -m32 -static -DMODE=0", "g++"
        ),
        "C++ clang": compiled(PROGRAMS / "virtual_calls.cpp", "-O2", "clang++"),
        "C++ lld": compiled(PROGRAMS / "exceptions.cpp", "-O2 -DMODE=0 -fuse-ld=lld", "clang++"),
        "stdc++ static": program(_gcc("libstdc++.a"), flags="-static"),
        "stdc++ i386": program(_gcc("libstdc++.a", "-m32"), flags="-m32 -no-pie"),
        "asan i386": program(_gcc("libasan.a", "-m32"), flags="-m32"),
        "rust legacy": rust_programs.twins("legacy", "unwind"),
        "rust v0": rust_programs.twins("v0", "abort"),
        "go": go_program,
    }
    return [RealFile(name, EXECUTABLE, make) for name, make in made.items()]


FILES = {f"{each.kind}: {each.name}": each for each in [*_libraries(), *_executables()]}
STATIC_LIBRARIES = (
    (_gcc("libc.a"), _gcc("libgcc_eh.a"), _gcc("libstdc++.a")),
    (_gcc("libc.a", "-m32"), _gcc("libgcc_eh.a", "-m32"), _gcc("libstdc++.a", "-m32")),
    (Path("/usr/lib/x86_64-linux-musl/libc.a"),),
)
