"""What happened to a process, and what shows it: the page's sentence for a terminal, or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whocall.report.causes.happened import as_sentence, what_happened
from whocall.report.form.sentences import broken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whocall.base.model import Backtrace
    from whocall.base.process_image import ProcessImage
    from whocall.report.form.jsonform import Json
    from whocall.report.form.style import Style


def why_json(image: ProcessImage, index: int, trace: Backtrace) -> Json:
    """Of threads[index]; `trace` is its backtrace."""
    return {
        "schema": "whocall.why/1",
        "arch": image.arch,
        "source": {"core": image.core_path, "exe": image.exe_path},
        **what_happened(image, index, trace),
    }


def why_lines(
    image: ProcessImage, index: int, trace: Backtrace, style: Style, columns: int
) -> Iterator[str]:
    """The sentence; then each thing that is proven beside the first, and what proves it. Lines are
    broken between words where they do not fit the columns; 0: all do.
    """
    happened = what_happened(image, index, trace)
    yield from broken(happened["sentence"], columns)
    for at, fact in enumerate(happened["facts"]):
        if at:
            yield from broken(as_sentence(f"Besides: {fact['text']}"), columns)
        proof = broken(f"  What shows it: {fact['proof'].rstrip('.')}.", columns)
        yield from (style.paint("metadata", line) for line in proof)
    proven = any(str(happened["instruction"]) in fact["proof"] for fact in happened["facts"])
    if happened["instruction"] and not proven and happened["fault_address"] is not None:
        told = f"  The instruction at {happened['pc']}: {happened['instruction']}"
        yield from (style.paint("metadata", line) for line in broken(told, columns))
