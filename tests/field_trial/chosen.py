"""Ten programs that nobody had named: chosen before looking at any result."""

from __future__ import annotations

from field_trial.program import Program

CHOSEN = "chosen before looking"


def programs() -> list[Program]:
    """The ten."""
    return [
        Program("pypy3", CHOSEN, "/usr/bin/pypy3 -I work.py", ("pypy3",), ("work.py",), warm=2.0),
        Program("polyml", CHOSEN, "/usr/bin/poly < work.sml", ("polyml",), ("work.sml",)),
        Program(
            "qemu-user",
            CHOSEN,
            "/usr/bin/qemu-x86_64 /usr/bin/perl work.perl",
            ("qemu-user",),
            ("work.perl",),
        ),
        Program("sqlite3", CHOSEN, "/usr/bin/sqlite3 < work.sql", ("sqlite3",), ("work.sql",)),
        Program(
            "ghostscript",
            CHOSEN,
            "/usr/bin/gs -q -dBATCH -dNOPAUSE -sDEVICE=png16m -r100 -o /dev/null work.ps",
            ("ghostscript",),
            ("work.ps",),
        ),
        Program(
            "stockfish",
            CHOSEN,
            "/usr/games/stockfish bench 64 2 24",
            ("stockfish",),
        ),
        Program("tcl", CHOSEN, "/usr/bin/tclsh8.6 work.tcl", ("tcl8.6",), ("work.tcl",)),
        Program("gawk", CHOSEN, "/usr/bin/gawk -f work.awk", ("gawk",), ("work.awk",)),
        Program("ecl", CHOSEN, "/usr/bin/ecl --shell work.lisp", ("ecl",), ("work.lisp",)),
        Program(
            "imagemagick",
            CHOSEN,
            "/usr/bin/convert -size 1200x1200 plasma:red-blue -blur 0x12 -swirl 90 -paint 6 null:",
            ("imagemagick",),
        ),
    ]
