"""What the benchmarks in C++ say: the walk, look-ups, symbol tables. In nanoseconds of an item."""

from __future__ import annotations

import json
from pathlib import Path

from acceptance.helpers.function_files import ORDERS

from bench import inputs
from bench.figures import Figure, Figures, Job, least
from bench.workshop import Workshop

SECONDS = 0.1
"""Of each benchmark, in each round."""
COUNTS = {"100k": 100_000, "1M": 1_000_000}
_UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def _benchmarks(shop: Workshop, subject: str, which: str, file: Path | None = None) -> Job:
    """A job of those whose names fit the pattern; what they count comes as `NAME:COUNTER`."""
    program = shop.build / "whocall_bench"
    options = [f"--benchmark_filter={which}", f"--benchmark_min_time={SECONDS}"]
    setting = ["env", f"WHOCALL_BENCH_FILE={file}"] if file else []
    command = [*setting, str(program), "--benchmark_format=json", *options]

    def job() -> Figures:
        text, spent = shop.output(command)
        found: Figures = {}
        for one in json.loads(text)["benchmarks"]:
            rate = one.get("items_per_second")
            cost = 1e9 / rate if rate else one["cpu_time"] * _UNITS[one["time_unit"]]
            name = f"{subject}/{one['name']}"
            found[name] = Figure(cost, spent.peak)
            for counter in ("functions", "MiB"):
                if counter in one:
                    found[f"{name}:{counter}"] = Figure(one[counter], spent.peak)
        return found

    return job


def walk(shop: Workshop) -> Figures:
    """A walk with everything known, beside a load and another's walk; each a process of its own."""
    names = ("load_from_l2", "warm_walk_by_tables", "warm_walk_by_frame_pointers")
    peers = ("libunwind_steps", "libunwind_backtrace")
    return least([_benchmarks(shop, "walk", f"^{name}$") for name in names + peers], shop.rounds)


def look_ups(shop: Workshop) -> Figures:
    """Address to function: the benchmarks of one size, in turns."""
    which = "^(upper_bound_over_structs|table_batched|table_dependent|two_dependent_loads)"
    sizes = [f"{which}/{count}$" for count in COUNTS.values()]
    return least([_benchmarks(shop, "look-ups", size) for size in sizes], shop.rounds)


def _table_jobs(shop: Workshop, subject: str, mark: str, which: str, file: Path) -> list[Job]:
    """Figures are named `SUBJECT/elf MARK` and `SUBJECT/bfd MARK`."""

    def renamed(job: Job, short: str) -> Job:
        return lambda: {
            name.replace(f"table_from_{short}", f"{short} {mark}"): figure
            for name, figure in job().items()
        }

    return [
        renamed(_benchmarks(shop, subject, f"table_from_{short}", file), short)
        for short in which.split()
    ]


def tables(shop: Workshop) -> Figures:
    """The function table of a file, beside libbfd's symbols in order."""
    counts = {"100k": COUNTS["100k"]} if shop.small else COUNTS
    jobs: list[Job] = []
    for mark, count in counts.items():
        jobs += _table_jobs(shop, "tables", mark, "elf bfd", inputs.functions(count))
    found = least(jobs, shop.rounds)
    for mark in counts:
        ours, theirs = (found[f"tables/{kind} {mark}:functions"].cost for kind in ("elf", "bfd"))
        if ours != theirs:
            shop.differing[f"tables/bfd {mark}"] = f"{theirs:.0f} functions, ours {ours:.0f}"
    return found


def orders(shop: Workshop) -> Figures:
    """The same functions, written down in other orders."""
    jobs: list[Job] = []
    for order in ORDERS:
        file = inputs.functions(COUNTS["100k"], order)
        jobs += _table_jobs(shop, "orders", order, "elf", file)
    return least(jobs, shop.rounds)
