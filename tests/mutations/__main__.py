"""The command line: see the package's own words."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
os.environ.setdefault("WHOCALL_BUILD_DIR", str(ROOT / "build" / "release"))
os.environ.pop("DEBUGINFOD_URLS", None)
sys.path[:0] = [str(ROOT / part) for part in ("tests", "gdbext")]

from places.needs import allow_cores  # noqa: E402

from mutations import campaign  # noqa: E402
from mutations.measure import Meter  # noqa: E402
from mutations.originals import ORIGINALS, original  # noqa: E402

DIRECTORY = ROOT / "build" / "mutations"


def _table(lines: list[dict[str, Any]], key: str) -> None:
    rows = defaultdict(list)
    for line in lines:
        rows["mixed" if key == "kind" and "+" in line[key] else line[key]].append(line)
    print(f"\n{key:26} {'mutants':>8} {'refused':>8} {'offend':>7} {'most s':>7} {'most MiB':>9}"
          f" {'most frames':>12}")  # fmt: skip
    for name, each in [*sorted(rows.items()), ("all", lines)]:
        refused = sum(bool(line["refused"]) for line in each)
        offend = sum(bool(line["faults"]) for line in each)
        seconds = max((max(line["walks"], default=0) for line in each), default=0)
        memory = max((line["memory"] for line in each), default=0) >> 20
        frames = max((max(line["frames"], default=0) for line in each), default=0)
        print(f"{name:26} {len(each):8} {refused:8} {offend:7} {seconds:7.2f} {memory:9}"
              f" {frames:12}")  # fmt: skip


def _summary(path: Path, seed: int) -> int:
    lines = campaign.read(path)
    _table(lines, "kind")
    _table(lines, "original")
    offenders = [line for line in lines if line["faults"]]
    print(f"\n{len(offenders)} offenders")
    for line in offenders:
        print(f"  --repeat {seed} {line['number']}: {line['original']}, {line['kind']}:"
              f" {'; '.join(line['faults'])[:300]}")  # fmt: skip
    return 1 if offenders else 0


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python3 tests/mutations", description=__doc__)
    campaign.add_options(parser, "mutants", DIRECTORY)
    parser.add_argument("--summary", action="store_true", help="of the record as it is")
    arguments = parser.parse_args()
    directory = arguments.directory.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    allow_cores()
    if arguments.repeat:
        seed, *numbers = arguments.repeat
        meter = Meter()
        with campaign.copies_in() as place:
            copies = campaign.Copies(directory / "originals", place)
            lines = [
                campaign.try_one(copies, meter, seed, number, arguments.keep) for number in numbers
            ]
        meter.end()
        print("\n".join(json.dumps(line, indent=1) for line in lines))
        return 1 if any(line["faults"] for line in lines) else 0
    path = directory / f"{arguments.seed}.jsonl"
    if not arguments.summary:
        for name in ORIGINALS:
            original(name, directory / "originals")
        path = campaign.run(directory, arguments.seed, arguments.count, arguments.jobs)
    return _summary(path, arguments.seed)


if __name__ == "__main__":
    sys.exit(main())
