"""Backtraces as whole processes: a thousand threads, a hundred thousand frames, a small core, a
compiler, an interpreter with its debug info.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from bench import answers, inputs, peers
from bench.figures import Figures, Job, least
from bench.inputs import Dumped
from bench.workshop import Workshop

PEERS: dict[str, Callable[[Path, Path], list[str]]] = {
    "gdb": peers.gdb,
    "lldb": peers.lldb,
    "eu-stack": peers.eu_stack,
}


def ours(shop: Workshop, dumped: Dumped, *options: str) -> list[str]:
    """`whocall bt` of every frame that the peers show."""
    return shop.whocall("bt", str(dumped.core), str(dumped.exe), "--all", "--past-main", *options)


def _compare(shop: Workshop, subject: str, dumped: Dumped, asked: Sequence[str]) -> None:
    """Each peer's answer with ours."""
    told = shop.place / f"{subject}.json"

    def complaint(peer: str) -> str:
        if not told.exists():
            shop.run(ours(shop, dumped, "--json"), str(told))
        return answers.difference(answers.ours(told), answers.WITNESSES[peer](dumped))

    for peer in asked:
        shop.check(f"{subject}/{peer}", partial(complaint, peer))
    told.unlink(missing_ok=True)


def _jobs(shop: Workshop, subject: str, dumped: Dumped, asked: Sequence[str]) -> list[Job]:
    return [shop.process(f"{subject}/{peer}", PEERS[peer](*dumped)) for peer in asked]


def crowd(shop: Workshop) -> Figures:
    """1,001 threads as text, without arguments and with them, and as JSON."""
    dumped = inputs.crowd()
    quick = ["gdb"] if shop.small else ["gdb", "lldb"]
    slow = [] if shop.small else ["eu-stack"]
    _compare(shop, "crowd", dumped, quick + slow)
    jobs = [
        # First without what the peers do not tell of a stripped program.
        shop.process("crowd/text", ours(shop, dumped, "--no-arguments")),
        shop.process("crowd/with arguments", ours(shop, dumped)),
        shop.process("crowd/json", ours(shop, dumped, "--json")),
        *_jobs(shop, "crowd", dumped, quick),
    ]
    return least(jobs, shop.rounds) | least(_jobs(shop, "crowd", dumped, slow), 1)


def deep(shop: Workshop) -> Figures:
    """100,000 frames, each of them printed."""
    dumped = inputs.deep()
    asked = ["gdb"] if shop.small else ["gdb", "lldb"]
    _compare(shop, "deep", dumped, asked)
    jobs = [
        shop.process("deep/text", ours(shop, dumped, "--no-fold")),
        shop.process("deep/json", ours(shop, dumped, "--json")),
        *_jobs(shop, "deep", dumped, asked),
    ]
    return least(jobs, shop.rounds)


def small(shop: Workshop) -> Figures:
    """A program of a few functions, beside a Python that does nothing."""
    dumped = inputs.small()
    asked = ["gdb"] if shop.small else ["gdb", "eu-stack"]
    _compare(shop, "small", dumped, asked)
    jobs = [
        shop.process("small/text", ours(shop, dumped)),
        shop.process("small/python", [sys.executable, "-c", ""]),
        *_jobs(shop, "small", dumped, asked),
    ]
    return least(jobs, 4 * shop.rounds)  # a few hundredths of a second each


def compiler(shop: Workshop) -> Figures:
    """clang in the middle of libLLVM, with nothing known of its files, and all that is kept."""
    dumped = inputs.compiler()
    if dumped is None:
        return {}
    _compare(shop, "clang", dumped, [*PEERS])
    jobs = [
        shop.process("clang/eu-stack -is", peers.eu_stack_with_lines(*dumped)),
        shop.unseen("clang/unseen", ours(shop, dumped)),
        shop.process("clang/seen", ours(shop, dumped)),
        *_jobs(shop, "clang", dumped, [*PEERS]),
    ]
    shop.run(ours(shop, dumped))
    return least(jobs, shop.rounds)


def interpreter(shop: Workshop) -> Figures:
    """perl with source lines and inlined calls."""
    dumped = inputs.perl()
    _compare(shop, "perl", dumped, ["eu-stack"])
    jobs = [
        shop.process("perl/text", ours(shop, dumped)),
        shop.process("perl/eu-stack -is", peers.eu_stack_with_lines(*dumped)),
    ]
    return least(jobs, 2 * shop.rounds)
