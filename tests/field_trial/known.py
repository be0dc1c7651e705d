"""Programs that have been looked at before."""

from __future__ import annotations

from places import mounts

from field_trial.program import FRAME_POINTERS, Program

KNOWN = "known"

LIMIT = "ulimit -v 4000000; exec "
"""GHC's runtime reserves 1 TiB for its heap if it may, and gcore would write it out."""

SMALL_JAVA = (
    "-Xmx64m -Xss8m -XX:ReservedCodeCacheSize=32m -XX:+UseSerialGC -XX:-UsePerfData"
    " -XX:CompressedClassSpaceSize=32m -Xshare:off"
)
ONE_ARENA = {"MALLOC_ARENA_MAX": "1"}

POSTGRES_BIN = "/usr/lib/postgresql/15/bin"
AS_POSTGRES = "setpriv --reuid=postgres --regid=postgres --clear-groups"


def _servers() -> list[Program]:
    return [
        Program(
            "redis-server",
            KNOWN,
            "redis-server --port 7791 --save '' --lua-time-limit 0 & sleep 1;"
            " redis-cli -p 7791 --eval busy.lua; wait",
            ("redis-server",),
            ("busy.lua",),
            process="redis-server",
        ),
        Program(
            "postgres-jit",
            KNOWN,
            f"{AS_POSTGRES} {POSTGRES_BIN}/postgres --single -D data postgres < query.sql",
            ("postgresql-15",),
            ("query.sql",),
            prepare="chmod a+x ../.. .. . ; install -d -o postgres -g postgres data;"
            f" {AS_POSTGRES} {POSTGRES_BIN}/initdb -D $PWD/data",
            warm=1.0,
        ),
    ]


def _lisps() -> list[Program]:
    return [
        Program(
            "emacs",
            KNOWN,
            "/usr/bin/emacs-nox --batch -Q -l deep.el",
            ("emacs-nox",),
            ("deep.el",),
        ),
        Program(
            "sbcl",
            KNOWN,
            "/usr/bin/sbcl --dynamic-space-size 128MB --script work.lisp",
            ("sbcl",),
            ("work.lisp",),
            believed=FRAME_POINTERS,
            dropped=("funcall1", "create_main_lisp_thread"),
            note="compiled Lisp keeps rbp; call_into_lisp_ makes a second frame below its own, and"
            " eu-stack goes past its callers funcall1 and create_main_lisp_thread",
        ),
        Program(
            "guile",
            KNOWN,
            "/usr/bin/guile --no-auto-compile work.scm",
            ("guile-3.0",),
            ("work.scm",),
        ),
        Program(
            "smlnj",
            KNOWN,
            "/usr/bin/sml work.sml",
            ("smlnj",),
            ("work.sml",),
        ),
    ]


def _haskell() -> list[Program]:
    return [
        Program(
            "shellcheck",
            KNOWN,
            LIMIT + "/usr/bin/shellcheck long.sh",
            ("shellcheck",),
            ("hard.py",),
            prepare="python3 hard.py shell > long.sh",
        ),
        Program(
            "pandoc",
            KNOWN,
            LIMIT + "/usr/bin/pandoc -f markdown -t html -o out.html long.md",
            ("pandoc",),
            ("hard.py",),
            prepare="python3 hard.py markdown > long.md",
        ),
    ]


def _javascript_and_jits() -> list[Program]:
    root = "root/usr/lib/x86_64-linux-gnu"
    javac = "/usr/lib/jvm/java-17-openjdk-amd64/bin/javac Work.java"
    return [
        Program(
            "nodejs",
            KNOWN,
            f"exec python3 {mounts.__file__} /bin/bash -c"
            " 'mount --bind root/usr/share/nodejs /usr/share/nodejs;"
            f" exec env LD_LIBRARY_PATH=$PWD/{root} root/usr/bin/node deep.js'",
            (),
            ("deep.js",),
            unpacked=(
                *(
                    "nodejs/bookworm",
                    "libnode108/bookworm",
                    "libuv1",
                    "libc-ares2",
                    "libnghttp2-14",
                ),
                *("libicu72", "node-cjs-module-lexer", "node-acorn", "node-undici"),
            ),
            prepare="mkdir -p /usr/share/nodejs",
            believed=FRAME_POINTERS,
            note="builtins keep rbp, and have no table; a leaf builtin without a frame makes"
            " eu-stack drop its caller",
        ),
        Program("luajit-off", KNOWN, "luajit -joff deep.lua 60", ("luajit",), ("deep.lua",)),
        Program("luajit-on", KNOWN, "luajit -jon deep.lua 60", ("luajit",), ("deep.lua",)),
        Program(
            "java-int",
            KNOWN,
            f"/usr/bin/java -Xint {SMALL_JAVA} -cp . Work",
            ("openjdk-17-jre-headless", "openjdk-17-jdk-headless"),
            ("Work.java",),
            prepare=javac,
            believed=FRAME_POINTERS,
            warm=1.0,
            environment=ONE_ARENA,
            note="the interpreter keeps rbp in every frame",
        ),
        Program(
            "valgrind",
            KNOWN,
            "/usr/bin/valgrind /usr/bin/xz -9 -k -c lines.txt",
            ("valgrind", "xz-utils"),
            ("hard.py",),
            prepare="python3 hard.py lines > lines.txt",
            warm=1.0,
        ),
    ]


def _compiled() -> list[Program]:
    return [
        Program(
            "golang",
            KNOWN,
            "./work",
            ("golang-go",),
            ("work.go",),
            prepare="HOME=$PWD GOFLAGS=-buildvcs=false /usr/bin/go build -o twin"
            " -ldflags=-compressdwarf=false work.go; strip -o work twin",
            twin="twin",
            believed=FRAME_POINTERS,
            last=(
                *("runtime.systemstack.abi0", "runtime.mcall", "runtime.systemstack"),
                *("runtime.morestack.abi0", "runtime.mstart.abi0"),
            ),
            note="the twin's .debug_frame leads eu-stack; it knows nothing of the goroutine's own"
            " stack behind systemstack, mcall, morestack; by Go's own word nothing called mstart",
        ),
        Program(
            "ocaml",
            KNOWN,
            "./work",
            ("ocaml-nox",),
            ("work.ml",),
            prepare="ocamlfind ocamlopt 2>/dev/null -o work work.ml || ocamlopt -o work work.ml;"
            " strip work",
        ),
        Program(
            "ffmpeg-x264",
            KNOWN,
            "ffmpeg -nostdin -f lavfi -i testsrc2=size=640x360 -t 90 -c:v libx264 -threads 4"
            " -f null -",
            ("ffmpeg",),
            warm=1.0,
            note="x264's assembler has no tables",
        ),
        Program("openssl-rsa", KNOWN, "openssl speed -seconds 60 rsa2048", ("openssl",)),
    ]


def _interpreters() -> list[Program]:
    return [
        Program(
            "vim",
            KNOWN,
            "/usr/bin/vim -N -u NONE -i NONE -es -S deep.vim",
            ("vim",),
            ("deep.vim",),
        ),
        Program("php", KNOWN, "/usr/bin/php deep.php", ("php-cli",), ("deep.php",)),
        Program("ruby", KNOWN, "/usr/bin/ruby deep.rb", ("ruby",), ("deep.rb",)),
        Program("python3", KNOWN, "/usr/bin/python3 -I work.py", ("python3",), ("work.py",)),
        Program(
            "chromium",
            KNOWN,
            "/usr/bin/chromium --headless --no-sandbox --disable-gpu --user-data-dir=$PWD/profile"
            " file://$PWD/work.html",
            ("chromium",),
            ("work.html",),
            process="--type=renderer",
            believed=FRAME_POINTERS,
            warm=1.5,
        ),
    ]


def programs() -> list[Program]:
    """The known ones."""
    return [
        *_servers(),
        *_interpreters(),
        *_lisps(),
        *_haskell(),
        *_javascript_and_jits(),
        *_compiled(),
    ]
