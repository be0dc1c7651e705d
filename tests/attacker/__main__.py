"""The whole campaign: `python3 -m attacker [--count N] [--seed S]` in `tests`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from attacker import recorded
from attacker.names import NAMES, made
from attacker.outputs import OUTPUTS, complaints, page_complaints
from attacker.specimen import FIELDS, specimen


def main() -> int:
    """Prints what is wrong, and how much was looked at."""
    parser = argparse.ArgumentParser(prog="python3 -m attacker")
    parser.add_argument("--count", type=int, default=100, help="names that are made, too")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    names = {**NAMES, **dict(made(arguments.count, arguments.seed))}
    inputs = outputs = wrong = 0
    for word, name in names.items():
        for field in FIELDS:
            with tempfile.TemporaryDirectory() as folder:
                of = specimen(Path(folder) / "s", field, name)
                found = [each for form in OUTPUTS for each in complaints(of, form)]
                found += page_complaints(of, Path(folder))
            inputs, outputs = inputs + 1, outputs + len(OUTPUTS) + 1
            wrong += len(found)
            for each in found:
                print(f"{word}: {each}")
        for field, make in recorded.FIELDS.items():
            with tempfile.TemporaryDirectory() as folder:
                made_file = make(Path(folder), name)
                forms = recorded.outputs_of(field)
                found = [
                    each for form in forms for each in recorded.complaints(made_file, field, form)
                ]
            inputs, outputs = inputs + 1, outputs + len(forms)
            wrong += len(found)
            for each in found:
                print(f"{word}: {each}")
    print(f"{inputs:,} inputs, {outputs:,} outputs, {wrong:,} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
