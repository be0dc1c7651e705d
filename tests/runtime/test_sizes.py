"""How much room libwhocall takes: what docs/crash.md says, as this compiler builds it."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.sizes import BUILDS, measured, told


@pytest.mark.parametrize("build", BUILDS)
def test_sizes(build: str, tmp_path: Path) -> None:
    """Another compiler's code may be a quarter larger; what is smaller does no harm."""
    found, said = measured(build, tmp_path), told()[build]
    assert found.keys() == said.keys()
    for use, size in found.items():
        for each, wanted in zip(size, said[use]):
            assert each / 1024 <= 1.25 * wanted + 2, (use, size, said[use])


def test_little_is_linked_where_little_is_asked() -> None:
    for said in told().values():
        assert said["`whocall_capture`"][0] < 0.75 * said["`whocall_install`"][0]
    assert told()["ARM, small"]["`whocall_install`"][2] < 64
