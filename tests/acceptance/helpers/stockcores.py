"""Cores of stock programs, dumped once for all tests."""

from __future__ import annotations

from stock import StockCore, StockProgram, stock_programs


class StockCores:
    """Cores of the stock programs by name."""

    def __init__(self) -> None:
        self._programs = {program.name: program for program in stock_programs()}
        self._cores: dict[str, StockCore] = {}

    def program(self, name: str) -> StockProgram:
        """The program itself, to be run alive."""
        return self._programs[name]

    def core(self, name: str) -> StockCore:
        """Its core."""
        if name not in self._cores:
            self._cores[name] = self._programs[name].kept()
        return self._cores[name]
