"""The stock programs of the distribution, brought deep into their work and dumped.

`stock_programs()` lists them; each is a `StockProgram` that can be dumped (`dump`) or kept alive
(`running`). `kept_many_threads_core` and `kept_deep_core` build the two shapes that none of them
has: very many threads, very many frames.
"""

from stock.catalogue import stock_programs
from stock.program import StockCore, StockProgram
from stock.shapes import (
    DeepCore,
    ManyThreadsCore,
    deep_core,
    kept_deep_core,
    kept_many_threads_core,
    many_threads_core,
)

__all__ = [
    "DeepCore",
    "ManyThreadsCore",
    "StockCore",
    "StockProgram",
    "deep_core",
    "kept_deep_core",
    "kept_many_threads_core",
    "many_threads_core",
    "stock_programs",
]
