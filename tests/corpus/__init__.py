"""The crash corpus: programs that crash, in many builds, each with its true backtrace.

    for case in cases():
        built = case.build(directory)  # built.exe (stripped), .twin (not), .core
        built.truth().frames  # TrueFrame, innermost first, of the thread that crashed

Nothing is written outside of the given directory.
"""

from corpus.build import CorpusError
from corpus.case import BuiltCase, Case
from corpus.frames import TrueFrame
from corpus.oracle import ThreadTruth, Truth
from corpus.suite import Outcome, build_all, cases

__all__ = [
    "BuiltCase",
    "Case",
    "CorpusError",
    "Outcome",
    "ThreadTruth",
    "TrueFrame",
    "Truth",
    "build_all",
    "cases",
]
