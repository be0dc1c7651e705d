"""Walks one core in a process of its own, so that time and memory are those of one stop of a
debugger: `python3 -m field_trial.walk CORE EXE tables|hidden OUTPUT`.
"""

from __future__ import annotations

import json
import re
import resource
import sys
import time
from pathlib import Path

from field_trial import paths

CPU_LIMIT = 150
"""Seconds after which the kernel ends it."""


def _peak_megabytes() -> float:
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def main(core: str, exe: str, mode: str, output: str) -> None:
    """Writes the chains of all threads as JSON."""
    paths.prepare()
    from acceptance.helpers import chains

    from whocall.base.process_image import Walk

    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT))
    without = ("cfi",) if mode == "hidden" else ()
    started = time.process_time()
    traces = chains.of_core(
        Path(core), Path(exe), Walk(without=without, past_main=True, lines=False, demangle=False)
    )
    said = {
        "threads": {
            tid: {
                "frames": [
                    (it.pc, it.cfa, it.trust, it.function, it.module, "; ".join(it.evidence))
                    for it in chains.physical(trace)
                ],
                "stop": (trace.stop.reason, trace.stop.detail),
            }
            for tid, trace in traces.items()
        },
        "seconds": time.process_time() - started,
        "megabytes": _peak_megabytes(),
    }
    Path(output).write_text(json.dumps(said))


if __name__ == "__main__":
    main(*sys.argv[1:])
