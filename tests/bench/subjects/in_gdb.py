"""The same threads inside one gdb, whocall's command beside gdb's own, the first and the second
time.
"""

from __future__ import annotations

from bench import inputs, peers
from bench.figures import Figures, least
from bench.workshop import SCRIPT, Workshop

# Processor time of all of gdb's threads, and of its helper, which begins with a copy of nothing;
# output goes where gdb's does.
TIMES = """python
import os, time
def spent():
    me = os.getpid()
    with open(f"/proc/self/task/{{me}}/children") as file:
        children = file.read().split()
    found = time.process_time()
    for child in children:
        with open(f"/proc/{{child}}/schedstat") as file:
            found += int(file.read().split()[0]) / 1e9
    return found
for turn in ("first", "second"):
    begin = spent()
    gdb.execute("{command}")
    gdb.write("\\n=in-gdb/{name} %s %.6f\\n" % (turn, spent() - begin))
end
"""


def _session(shop: Workshop, name: str, command: str, *before: str) -> list[str]:
    script = shop.place / f"{name}.gdb"
    script.write_text(TIMES.format(name=name, command=command))
    dumped = inputs.crowd()
    steps = [word for step in before for word in ("-ex", step)]
    files = [str(dumped.exe), str(dumped.core)]
    return [*peers.GDB, *peers.ALL_FRAMES, *steps, "-x", str(script), *files]


def in_gdb(shop: Workshop) -> Figures:
    """All threads, twice in each session; every session is new."""
    command = "whocall bt -all -past-main"
    ours = _session(shop, "text", f"{command} -no-arguments", f"source {SCRIPT}")
    told = _session(shop, "arguments", command, f"source {SCRIPT}")
    json = _session(shop, "json", "whocall bt -all -json", f"source {SCRIPT}")
    theirs = _session(shop, "gdb", "thread apply all bt")
    sessions = [ours, told, theirs] if shop.small else [ours, told, json, theirs]
    return least([shop.told(session) for session in sessions], shop.rounds)
