"""What frames cost on their way out of native code: as text, JSON, objects and tuples.

    python3 tests/bench/frames_out.py [--rounds 5]

Two crashes are made and dumped: a thousand threads of some two dozen different frames each, and one
thread that is a hundred thousand frames deep. Each figure is the least of several rounds, in
processor time; the rounds of what is compared take turns. Output goes nowhere.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "gdbext"))
FLAGS = "-O1 -fno-optimize-sibling-calls -pthread -w"
FUNCTIONS = 200


def crowd_source() -> str:
    """Threads that take different ways through many functions."""
    names = [f"function_number_{at}" for at in range(FUNCTIONS)]
    heads = "".join(f"void {name}(unsigned long, int);" for name in names)
    bodies = "".join(
        f"""__attribute__((noinline)) void {name}(unsigned long seed, int depth) {{
  if (depth == 0) rest();
  else ways[(seed * 2654435761u >> 7) % {FUNCTIONS}](seed * 6364136223846793005u + {at}, depth - 1);
  sink += {at}; }}
"""
        for at, name in enumerate(names)
    )
    return f"""
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int sink, resting;
static __attribute__((noinline)) void rest(void) {{
  __sync_fetch_and_add(&resting, 1); for (;;) pause(); }}
{heads}
static void (*const ways[])(unsigned long, int) = {{{", ".join(names)}}};
{bodies}
static void *start(void *number) {{
  ways[(unsigned long)number % {FUNCTIONS}]((unsigned long)number * 7919 + 1, 19); return 0; }}
int main(void) {{
  pthread_attr_t attributes; pthread_t thread;
  pthread_attr_init(&attributes); pthread_attr_setstacksize(&attributes, 65536);
  for (unsigned long at = 1; at <= 1000; at++)
    if (pthread_create(&thread, &attributes, start, (void *)at)) return 1;
  while (resting < 1000) usleep(1000);
  abort(); }}
"""


DEEP = """
#include <stdlib.h>
volatile int sink;
__attribute__((noinline)) void down(int n) { if (n == 0) abort(); down(n - 1); sink++; }
int main(void) { down(100000); return 0; }
"""


def dumped(folder: Path, name: str, source: str) -> str:
    """The core of the program, which gdb writes."""
    exe, core = folder / name, folder / f"{name}.core"
    (folder / f"{name}.c").write_text(source)
    subprocess.run(["gcc", *FLAGS.split(), "-o", exe, folder / f"{name}.c"], check=True)
    steps = ["-ex", "run", "-ex", f"generate-core-file {core}"]
    subprocess.run(["gdb", "-nx", "-q", "-batch", *steps, exe], check=True, capture_output=True)
    return str(core)


def command(core: str, *options: str) -> tuple[float, int]:
    """Seconds of `whocall bt`, and its peak of memory in MiB."""
    code = (
        "import resource, sys; from whocall.cli.main import main; status = main(sys.argv[1:]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr);"
        "sys.exit(status)"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ran = subprocess.run(
        [sys.executable, "-c", code, "bt", core, *options],
        env={**os.environ, "PYTHONPATH": str(ROOT / "gdbext")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, int(ran.stderr.split()[-1]) >> 10


def outputs(core: str, rounds: int) -> None:
    """The commands."""
    forms = {"text": ["--all"], "text, every frame": ["--all", "--no-fold"],
             "JSON": ["--all", "--json"]}  # fmt: skip
    found: dict[str, list[tuple[float, int]]] = {form: [] for form in forms}
    for _ in range(rounds):
        for form, options in forms.items():
            found[form].append(command(core, *options))
    for form, values in found.items():
        print(f"  {form:20} {min(values)[0]:6.2f} s  {max(peak for _, peak in values):4} MiB")


def in_python(core: str, rounds: int) -> None:
    """The frames of all threads in this process."""
    import whocall

    with whocall.open_core(core) as image:
        traces = image.report(walk=whocall.Walk()).threads
    frames = sum(len(trace.frames) for trace in traces)
    ways: dict[str, Callable[[], object]] = {
        "objects": lambda: [list(trace.frames) for trace in traces],
        "tuples": lambda: [list(trace.rows()) for trace in traces],
        "tuples of 3": lambda: [list(trace.rows("pc", "function", "trust")) for trace in traces],
    }
    for way, make in ways.items():
        spent = []
        for _ in range(rounds):
            begin = time.process_time()
            made = make()
            spent.append(time.process_time() - begin)
            del made
        print(f"  {way:20} {min(spent) / frames * 1e6:6.2f} us a frame of {frames}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        for name, source in (("crowd", crowd_source()), ("deep", DEEP)):
            core = dumped(Path(folder), name, source)
            print(name)
            outputs(core, rounds)
            in_python(core, rounds)


if __name__ == "__main__":
    main()
