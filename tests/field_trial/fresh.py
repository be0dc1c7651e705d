"""Programs that nobody had looked at when the list was written."""

from __future__ import annotations

from field_trial import foreign
from field_trial.known import LIMIT, ONE_ARENA, SMALL_JAVA
from field_trial.program import Program

FRESH = "fresh"

SOUND = "ffmpeg -nostdin -loglevel error -f lavfi -i 'sine=frequency=440:duration=900' in.wav"
PICTURES = (
    "ffmpeg -nostdin -loglevel error -f lavfi -i testsrc2=size=640x360 -t 8 -pix_fmt yuv420p in.y4m"
)


def _plain(
    name: str, command: str, packages: str = "", script: str = "", prepare: str = ""
) -> Program:
    """A program that needs no more than a script."""
    scripts = (script,) if script else ()
    return Program(name, FRESH, command, tuple(packages.split()), scripts, prepare=prepare)


def _input(name: str, command: str, package: str, kind: str, file: str) -> Program:
    """A program that works on what hard.py writes."""
    return Program(
        name,
        FRESH,
        command,
        (package,),
        ("hard.py",),
        prepare=f"python3 hard.py {kind} > {file}",
    )


def _lisps_and_prologs() -> list[Program]:
    return [
        _plain(
            "chicken",
            "./work",
            "chicken-bin libchicken-dev",
            "work.scm",
            prepare="csc -O2 work.scm; strip work",
        ),
        _plain("gambit", "/usr/bin/gsi work.scm", "gambc", "work.scm"),
        _plain("chezscheme", "/usr/bin/chezscheme --script work.scm", "chezscheme", "work.scm"),
        _plain("racket", "/usr/bin/racket work.rkt", "racket", "work.rkt"),
        _plain("clisp", "/usr/bin/clisp -q work.lisp", "clisp", "work.lisp"),
        _plain(
            "maxima",
            "exec env GCL_MEM_MULTIPLE=0.05 /usr/bin/maxima --very-quiet --batch-string="
            "'f(n):=if n=0 then (integrate(x^3*sin(x)*exp(x),x),factor(x^60-1)) else (f(n-1),n)$"
            " for i thru 100000 do f(12)$'",
            "maxima",
        ),
        Program(
            "gprolog",
            FRESH,
            "./work",
            ("gprolog",),
            ("work.pl",),
            prepare="gplc --no-top-level work.pl; strip work",
            note="compiled Prolog is jumped through and has no frames: eu-stack may err there",
        ),
        _plain("swi-prolog", "/usr/bin/swipl work.pl", "swi-prolog-nox", "work.pl"),
        _plain("gforth", "/usr/bin/gforth deep.fs", "gforth", "deep.fs"),
    ]


def _virtual_machines() -> list[Program]:
    return [
        Program(
            "java-jit",
            FRESH,
            f"/usr/bin/java {SMALL_JAVA} -cp . Work",
            ("openjdk-17-jre-headless", "openjdk-17-jdk-headless"),
            ("Work.java",),
            prepare="/usr/lib/jvm/java-17-openjdk-amd64/bin/javac Work.java",
            warm=2.0,
            environment=ONE_ARENA,
            note="compiled methods keep no rbp",
        ),
        _plain(
            "mono",
            "/usr/bin/mono Work.exe",
            "mono-runtime mono-mcs",
            "Work.cs",
            prepare="mcs Work.cs",
        ),
        _plain(
            "erlang",
            "/usr/bin/erl +S 2:2 -noshell -s work",
            "erlang-base",
            "work.erl",
            prepare="erlc work.erl",
        ),
        _plain("octave", "/usr/bin/octave-cli -q work.m", "octave", "work.m"),
        _plain("r", "/usr/bin/R --vanilla -q -f work.R", "r-base-core", "work.R"),
        _plain("lua5.4", "/usr/bin/lua5.4 deep.lua 30", "lua5.4", "deep.lua"),
        _plain("mujs", "/usr/bin/mujs deep.js", "mujs", "deep.js"),
        _plain("duktape", "/usr/bin/duk deep.js", "duktape", "deep.js"),
    ]


def _sound_and_pictures() -> list[Program]:
    return [
        _plain("x265", "/usr/bin/x265 in.y4m -o out.hevc", "x265 ffmpeg", prepare=PICTURES),
        _plain("flac", "/usr/bin/flac -s -8 -e -p -f -o out.flac in.wav", "flac", prepare=SOUND),
        _plain("lame", "/usr/bin/lame --quiet -q 0 in.wav out.mp3", "lame", prepare=SOUND),
        _plain(
            "povray",
            "/usr/bin/povray +Iwork.pov +W1600 +H1200 +A -D -GA +O/dev/null",
            "povray povray-includes",
            "work.pov",
        ),
        _plain("gnuplot", "/usr/bin/gnuplot work.plt", "gnuplot-nox", "work.plt"),
        _input("dot", "/usr/bin/dot -Tsvg -o out.svg in.dot", "graphviz", "dot", "in.dot"),
    ]


def _numbers() -> list[Program]:
    return [
        _plain(
            "zstd",
            "/usr/bin/zstd -q -19 -T2 -f in -o out",
            "zstd",
            prepare="cat /usr/bin/g* | head -c 60M > in",
        ),
        _plain("pari-gp", "/usr/bin/gp -q -f work.gp", "pari-gp", "work.gp"),
        _plain(
            "gmp-ecm",
            "/usr/bin/ecm -c 1000 3e6 < in",
            "gmp-ecm",
            prepare="python3 -c 'print((10**71-1)//9*(2**127-1)*(2**521-1)+2)' > in",
        ),
        _input("z3", "/usr/bin/z3 in.smt2", "z3", "smt", "in.smt2"),
        _input(
            "yosys", "/usr/bin/yosys -q -p 'read_verilog in.v; synth'", "yosys", "verilog", "in.v"
        ),
    ]


def _tools() -> list[Program]:
    return [
        _input(
            "hledger",
            LIMIT + "/usr/bin/hledger -f in.journal balance -M",
            "hledger",
            "journal",
            "in.journal",
        ),
        Program(
            "darcs",
            FRESH,
            "ulimit -v 4000000; cd tree; exec /usr/bin/darcs whatsnew",
            ("darcs",),
            ("hard.py",),
            prepare="mkdir tree; python3 hard.py lines > tree/a; cd tree; darcs init;"
            " darcs record -qlam one -A me@example.org; sort -R --random-source=a a > b; mv b a",
        ),
        _plain("cmake", "/usr/bin/cmake -P work.cmake", "cmake", "work.cmake"),
        _plain("clang", "/usr/bin/clang++ -std=c++17 -O2 -c work.cc -o out.o", "clang", "work.cc"),
        Program(
            "cc1plus",
            FRESH,
            "$(/usr/bin/g++ -print-prog-name=cc1plus) -quiet -std=c++17 -O2 work.cc -o out.s",
            ("g++",),
            ("work.cc",),
        ),
        _plain(
            "doxygen",
            "/usr/bin/doxygen Doxyfile",
            "doxygen",
            prepare="printf '%s\\n' 'INPUT=/usr/include/c++/12/bits' FILE_PATTERNS=*.h"
            " EXTRACT_ALL=YES GENERATE_LATEX=NO HAVE_DOT=NO > Doxyfile",
        ),
        _input("ninja", "/usr/bin/ninja -n", "ninja-build", "ninja", "build.ninja"),
        _plain("rustc", "/usr/bin/rustc -O --edition 2021 work.rs -o out", "rustc", "work.rs"),
    ]


def _compiled() -> list[Program]:
    return [
        _plain(
            "gfortran", "./work", "gfortran", "work.f90", prepare="gfortran -O2 -s work.f90 -o work"
        ),
        Program(
            "fpc",
            FRESH,
            "./work",
            ("fp-compiler", "fp-units-rtl"),
            ("work.pas",),
            prepare="fpc -O2 -Xs work.pas",
            note="Pascal has no tables, and its leaves and small procedures keep no rbp: eu-stack"
            " drops their callers, and is believed in frame 0 alone; the rest has to return",
        ),
        _plain("gnat", "./work", "gnat", "work.adb", prepare="gnatmake -O2 work.adb; strip work"),
        _plain("gdc", "./work", "gdc", "work.d", prepare="gdc -O2 -s work.d -o work"),
        _plain(
            "nim",
            "./work",
            "nim",
            "work.nim",
            prepare="HOME=$PWD nim c -d:release work.nim; strip work",
        ),
    ]


def programs() -> list[Program]:
    """The fresh ones, those of 32 bits at the end."""
    return [
        *_lisps_and_prologs(),
        *_virtual_machines(),
        *_sound_and_pictures(),
        *_numbers(),
        *_tools(),
        *_compiled(),
        *foreign.programs(),
    ]
