"""The expressions that `readelf -wF` prints only as `exp` and `vexp`, out of `readelf -wf`.

`-wf` prints every call frame instruction with its expression decoded (operations and operands, not
the bytes), so a row's expression is found by following the instructions. Register names stand in
brackets behind the number: `DW_CFA_expression: r6 (rbp) (DW_OP_breg7 (rsp): 120)`. The instructions
of one entry are followed as far as expressions go: a rule of another kind replaces one,
remember_state and restore_state keep and bring back all, DW_CFA_restore goes back to the CIE's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from oracles import tools

CFA = "cfa"

Expressions = dict[str, str]
"""Operations by register name, or by `CFA`: `DW_OP_breg7 (rsp): 8; DW_OP_deref`."""

_ENTRY = re.compile(
    r"([0-9a-f]{8,}) [0-9a-f]+ [0-9a-f]+ (CIE|FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.)"
)
_ADVANCE = re.compile(r"  DW_CFA_(?:advance_loc\d?|MIPS_advance_loc8|set_loc):.*?([0-9a-f]+)$")
_EXPRESSION = re.compile(r"  DW_CFA_(?:val_)?expression: \w+ \((\w+)\) \((.*)\)$")
_CFA_EXPRESSION = re.compile(r"  DW_CFA_def_cfa_expression \((.*)\)$")
_RULE = re.compile(r"  DW_CFA_(\w+): \w+ \((\w+)\)")
_SECTION = re.compile(r"Contents of the (\S+) section")


def expressions(file: Path) -> dict[tuple[str, int, int], Expressions]:
    """By (section, offset of the FDE, address of the row): the expressions that hold in that row.

    Rows without any are absent. Joins with `readelf_cfi.Fde` by section, offset and `Row.loc`.
    """
    return {
        (section, offset, loc): found
        for section, offset, loc, found in parse(tools.lines(["readelf", "-wfN", str(file)]))
        if found
    }


def parse(lines: Iterable[str]) -> Iterator[tuple[str, int, int, Expressions]]:
    """Parse the text of `readelf -wf`: each row's (section, FDE offset, address, expressions)."""
    section, offset, loc = "", -1, 0
    initial: dict[int, Expressions] = {}
    state: Expressions = {}
    remembered: list[Expressions] = []
    cie = True
    common: Expressions = {}
    for line in lines:
        line = line.rstrip("\n")
        if not line.startswith("  "):
            if line and not cie and offset >= 0:
                yield section, offset, loc, dict(state)
            if entry := _ENTRY.match(line):
                offset = int(entry[1], 16)
                cie = entry[3] is None
                common = {} if cie else initial.get(int(entry[3], 16), {})
                loc = 0 if cie else int(entry[4], 16)
                state, remembered = dict(common), []
                if cie:
                    initial[offset] = state
            elif contents := _SECTION.match(line):
                section, initial, offset = contents[1], {}, -1
            elif line:
                offset = -1
        elif advance := _ADVANCE.match(line):
            yield section, offset, loc, dict(state)
            loc = int(advance[1], 16)
        elif "remember_state" in line:
            remembered.append(dict(state))
        elif "restore_state" in line:
            state = remembered.pop() if remembered else state
        else:
            _apply(line, state, common)
    if not cie and offset >= 0:
        yield section, offset, loc, dict(state)


def _apply(line: str, state: Expressions, common: Expressions) -> None:
    """What one instruction does to the expressions in `state`."""
    if found := _EXPRESSION.match(line):
        state[found[1]] = found[2]
    elif found := _CFA_EXPRESSION.match(line):
        state[CFA] = found[1]
    elif line.startswith("  DW_CFA_def_cfa"):
        state.pop(CFA, None)
    elif found := _RULE.match(line):
        if found[1].startswith("restore") and found[2] in common:
            state[found[2]] = common[found[2]]
        else:
            state.pop(found[2], None)
