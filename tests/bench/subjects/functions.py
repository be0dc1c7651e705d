"""`whocall functions` on a file of a million functions, beside those who list symbols."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from functools import partial

from bench import inputs, peers
from bench.figures import Figures, least
from bench.workshop import Workshop

COUNT = 1_000_000
_OURS = re.compile(r"0x([0-9a-f]+) 0x[0-9a-f]+ symtab +(\S+)$")
_NM = re.compile(r"([0-9a-f]+) [tT] (\S+)$")


def _listed(shop: Workshop, command: Sequence[str], form: re.Pattern[str]) -> int:
    """A number that stands for the set of all (address, name)."""
    ended = subprocess.Popen(command, env=shop.environment, stdout=subprocess.PIPE, text=True)
    with ended as process:
        found = (form.match(line.rstrip()) for line in process.stdout or ())
        return hash(frozenset((int(one[1], 16), one[2]) for one in found if one))


def functions(shop: Workshop) -> Figures:
    """As text and as JSON."""
    file = inputs.functions(COUNT)
    ours = shop.whocall("functions", str(file))
    listers = {"nm": peers.nm(file)}
    if not shop.small:
        listers["eu-nm"] = peers.eu_nm(file)

    def complaint(command: Sequence[str]) -> str:
        same = _listed(shop, ours, _OURS) == _listed(shop, command, _NM)
        return "" if same else "other functions than ours"

    for name, command in listers.items():
        shop.check(f"functions/{name}", partial(complaint, command))
    if not shop.small:
        listers["nm -p"] = ["nm", "-p", str(file)]  # in no order
    jobs = [
        shop.process("functions/text", ours),
        shop.process("functions/json", [*ours, "--json"]),
        *(shop.process(f"functions/{name}", command) for name, command in listers.items()),
    ]
    return least(jobs, shop.rounds)
