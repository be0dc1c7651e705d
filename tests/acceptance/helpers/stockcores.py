"""Cores of stock programs, dumped once for all tests of a session."""

from __future__ import annotations

from pathlib import Path

from stock import StockCore, StockProgram, stock_programs


class StockCores:
    """Cores of the stock programs by name; each program is started and dumped at most once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._programs = {program.name: program for program in stock_programs()}
        self._cores: dict[str, StockCore] = {}

    def program(self, name: str) -> StockProgram:
        """The program itself, to be run alive."""
        return self._programs[name]

    def core(self, name: str) -> StockCore:
        """Its core."""
        if name not in self._cores:
            self._cores[name] = self._programs[name].dump(self._directory)
        return self._cores[name]
