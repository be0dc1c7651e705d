"""What the threads of a process wait for, as native code writes it: `native/report/waits`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from whocall.base.native_errors import native_errors

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from whocall.base.process_image import ProcessImage
    from whocall.report.form.style import Style


def _numbered(
    image: ProcessImage, order: Iterable[int] | None, numbers: Mapping[int, int] | None
) -> list[tuple[int, int]]:
    """Indices of threads and what to call them by, in the order in which they are told."""
    own = [thread.number for thread in image.threads]
    indices = range(len(own)) if order is None else order
    return [(at, (numbers or {}).get(at, own[at])) for at in indices]


def waits_text(
    image: ProcessImage,
    style: Style,
    order: Iterable[int] | None = None,
    numbers: Mapping[int, int] | None = None,
    inferior: str = "",
) -> Sequence[str]:
    """A line or two for each thread, or for those that wait for the same; then the cycles."""
    with native_errors():
        return image.native.waits_text(
            _numbered(image, order, numbers), inferior, dict(style.codes)
        )


def waits_json(
    image: ProcessImage,
    order: Iterable[int] | None = None,
    numbers: Mapping[int, int] | None = None,
) -> Sequence[str]:
    """JSON text, schema whocall.waits/1, in pieces."""
    with native_errors():
        return image.native.waits_json(
            _numbered(image, order, numbers), image.core_path or "", image.exe_path or ""
        )


def waits_data(image: ProcessImage) -> dict[str, Any]:
    """What each thread of a process waits for, as `whocall waits --json` prints it."""
    import json

    values: dict[str, Any] = json.loads("".join(waits_json(image)))
    return values


def deadlocks(image: ProcessImage) -> list[str]:
    """A sentence on each."""
    import json

    told = json.loads("".join(waits_json(image, order=())))
    return [cycle["sentence"] for cycle in told["cycles"] if cycle["deadlock"]]
