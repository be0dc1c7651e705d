"""What the acceptance tests share: crashes that are made once."""

from __future__ import annotations

import pytest

from acceptance.helpers.corpusruns import NAMES, Corpora
from acceptance.helpers.damageruns import Subject, build_damage
from acceptance.helpers.stockcores import StockCores


@pytest.fixture(scope="session")
def stock_cores() -> StockCores:
    """Dumps on demand."""
    return StockCores()


@pytest.fixture(scope="session")
def damaged() -> list[Subject | str]:
    """Every case of the damage corpus, or why it could not be built."""
    return build_damage()


@pytest.fixture(scope="session")
def corpora(request: pytest.FixtureRequest) -> Corpora:
    """The crash corpora, restricted to what the selected tests name.

    A test names one case by the parameter `case_name`, several by `case_names`, a whole corpus by
    `tables`.
    """
    selected: set[str] = set()
    for item in request.session.items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        if "case_name" in parameters:
            selected.add(parameters["case_name"])
        if "tables" in parameters:
            selected.update(NAMES[parameters["tables"]])
        selected.update(parameters.get("case_names", ()))
    return Corpora(selected)
