"""Frames as Python has them: objects, tuples; in microseconds of a frame."""

from __future__ import annotations

import sys

from bench import inputs
from bench.figures import Figures, least
from bench.workshop import PACKAGE, Workshop

PROGRAM = """
import sys, time
sys.path.insert(0, sys.argv[1])
import whocall
with whocall.open_core(sys.argv[2], sys.argv[3]) as image:
    traces = image.report(walk=whocall.Walk()).threads
frames = sum(len(trace.frames) for trace in traces)
ways = {
    "objects": lambda: [list(trace.frames) for trace in traces],
    "tuples": lambda: [list(trace.rows()) for trace in traces],
    "tuples of 3": lambda: [list(trace.rows("pc", "function", "trust")) for trace in traces],
}
for way, make in ways.items():
    spent = []
    for _ in range(int(sys.argv[4])):
        begin = time.process_time()
        made = make()
        spent.append(time.process_time() - begin)
        del made
    print("=api/" + way, min(spent) / frames * 1e6)
"""


def api(shop: Workshop) -> Figures:
    """All frames of 1,001 threads."""
    dumped = inputs.crowd()
    words = [str(PACKAGE), str(dumped.core), str(dumped.exe), "3"]
    return least([shop.told([sys.executable, "-c", PROGRAM, *words])], shop.rounds)
