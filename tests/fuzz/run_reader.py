"""Fuzzes one reader of the package: python3 -m fuzz.run_reader TARGET [OPTION]...

With atheris, guided by coverage: options are libFuzzer's. Without it, by mutations of the seeds
alone, which is said: --seconds N, --count N, --seed N. What comes out other than Error, takes more
than five seconds of processor time or more than 2 GiB is a finding: its input is written to
--findings FOLDER, and the status is 1.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import resource
import sys
import time
import traceback
from pathlib import Path
from typing import Any

_MOST = 1 << 16  # bytes of an input
_SECONDS = 5.0  # of processor time for one input
_MEMORY = 2 << 30  # bytes


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--count", type=int, default=1 << 60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="inputs that reached something new are kept")
    parser.add_argument("--findings", type=Path, default=Path())
    parser.add_argument("--plain", action="store_true", help="without atheris")
    return parser.parse_args(words)


def _seeds_in(folder: Path | None, name: str) -> list[bytes]:
    from fuzz.reader_seeds import seeds

    found = seeds(name)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        found += [path.read_bytes() for path in sorted(folder.iterdir())[:5000]]
    return found


def _by_mutations(given: argparse.Namespace) -> int:
    """The status. Memory is limited for this process, as for whoever opens a stranger's file."""
    from fuzz import readers
    from fuzz.reader_mutations import mutated

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, hard))
    pool = _seeds_in(given.corpus, given.target)
    chance = random.Random(given.seed)
    end = time.monotonic() + given.seconds
    count = 0
    for data in pool:
        readers.run(given.target, data)
    while count < given.count and time.monotonic() < end:
        data = mutated(given.target, chance.choice(pool), chance.getrandbits(64), _MOST)
        began = time.process_time()
        try:
            readers.run(given.target, data)
            took = time.process_time() - began
            trouble = f"took {took:.1f} s" if took > _SECONDS else ""
        except Exception:
            trouble = traceback.format_exc()
        if trouble:
            name = f"{given.target}-{hashlib.sha256(data).hexdigest()[:16]}"
            given.findings.mkdir(parents=True, exist_ok=True)
            (given.findings / name).write_bytes(data)
            print(f"{trouble}\n{given.findings / name}", file=sys.stderr)
            return 1
        count += 1
        if count % 50 == 0 and len(pool) < 2000:
            pool.append(data)  # mutations of mutations
    print(f"{given.target}: {count} executions by mutations alone, no coverage")
    return 0


def _by_coverage(atheris: Any, given: argparse.Namespace) -> None:
    """Does not return: libFuzzer ends the process."""
    with atheris.instrument_imports(include=["whocall"]):
        from fuzz import readers
    from fuzz.reader_mutations import mutated

    corpus = given.corpus or given.findings / "corpus"
    for data in _seeds_in(corpus, given.target):
        (corpus / hashlib.sha1(data).hexdigest()).write_bytes(data)
    given.findings.mkdir(parents=True, exist_ok=True)

    def other(data: bytes, most: int, seed: int) -> bytes:
        if seed % 2 == 0:
            return bytes(atheris.Mutate(data, most))
        return mutated(given.target, data, seed, most)

    options = [f"-max_len={_MOST}", "-timeout=20", f"-rss_limit_mb={_MEMORY >> 20}"]
    options += [f"-artifact_prefix={given.findings}/{given.target}-", "-print_final_stats=1"]
    if given.seconds < 1e9:
        options.append(f"-max_total_time={int(given.seconds)}")
    if given.count < 1 << 60:
        options.append(f"-runs={given.count}")
    atheris.Setup(
        [sys.argv[0], *options, str(corpus)],
        lambda data: readers.run(given.target, data),
        custom_mutator=other,
    )
    atheris.Fuzz()


def main(words: list[str]) -> int:
    """The status: 0 where nothing was found."""
    given = _arguments(words)
    try:
        import atheris
    except ImportError:
        atheris = None
    if atheris is None or given.plain:
        return _by_mutations(given)
    _by_coverage(atheris, given)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
