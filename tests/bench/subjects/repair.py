"""`whocall repair` in gdb with the symbol files kept, beside a gdb that only reads these files."""

from __future__ import annotations

from bench import inputs, peers
from bench.figures import Figure, Figures, least
from bench.workshop import SCRIPT, Workshop

# Which file it gave to which module.
GIVEN = """python
for one in gdb.objfiles():
    if one.owner and one.filename.endswith(".symbols"):
        gdb.write("=%s %s\\n" % (one.owner.filename, one.filename))
end
"""
READ = """python
given = {given!r}
for one in gdb.objfiles():
    if one.filename in given:
        one.add_separate_debug_file(given[one.filename])
gdb.invalidate_cached_frames()
end
"""


def repair(shop: Workshop) -> Figures:
    """The cost of both, and what is left of ours without the reading."""
    dumped = inputs.compiler()
    if dumped is None:
        return {}
    listing, reading = shop.place / "given.gdb", shop.place / "read.gdb"
    listing.write_text(GIVEN)
    gdb = [*peers.GDB, *peers.ALL_FRAMES]
    files = [str(dumped.exe), str(dumped.core)]
    repairs = [*gdb, "-ex", f"source {SCRIPT}", "-ex", "whocall repair"]
    text, made = shop.output([*repairs, "-x", str(listing), *files])
    lines = [line[1:] for line in text.splitlines() if line[:1] == "="]
    given = dict(line.rsplit(None, 1) for line in lines)
    reading.write_text(READ.format(given=given))
    jobs = [
        shop.process("repair/whole", [*repairs, *files]),
        shop.process("repair/reading", [*gdb, "-x", str(reading), *files]),
    ]
    found = least(jobs, 2 * shop.rounds)  # it is a difference of large figures
    whole, read = found["repair/whole"], found["repair/reading"]
    return {
        **found,
        "repair/made": made,
        "repair/own": Figure(whole.cost - read.cost, whole.peak),
    }
