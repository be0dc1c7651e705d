"""One core of each bucket in full: its backtrace, and a report where a folder is named."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whocall.base.errors import Error
from whocall.base.output_file import writing_text
from whocall.base.printable import printable
from whocall.report.form.style import shown_text
from whocall.triage.opening import open_crash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from whocall.base.process_image import ProcessImage
    from whocall.triage.work import Settings

Json = dict[str, Any]

FRAMES = 60  # of a backtrace


def represent(
    buckets: Iterable[Json],
    settings: Settings,
    folder: str | None,
    told: Callable[[None], None] = lambda done: None,
) -> list[str]:
    """Adds to each bucket the backtrace of its representative, and with `folder` a file there.

    Returns a sentence for each that could not be made. Raises Error where `folder` cannot be.
    """
    if folder is not None:
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Error(f"{folder}: {error.strerror}; name another folder") from error
    complaints = []
    for bucket in buckets:
        one = bucket["representative"]
        try:
            with open_crash(one["path"], settings.search).image as image:
                one["backtrace"] = "".join(_lines(image))
                if folder is not None:
                    one["report"] = _report(image, one, Path(folder) / bucket["id"])
        except Error as error:
            complaints.append(f"no report of bucket {bucket['id']}: {error}")
        except Exception as error:  # a fault of ours: the buckets are shown all the same
            fault = f"whocall failed: {type(error).__name__}: {error}"
            complaints.append(f"no report of bucket {bucket['id']}: {fault}")
        told(None)
    return complaints


def _lines(image: ProcessImage) -> list[str]:
    from whocall.base.model import TextForm
    from whocall.base.process_image import Walk
    from whocall.report.backtrace.written import report_text
    from whocall.report.form.style import Style

    walk = Walk(past_main=True, count=FRAMES)
    report = image.report([image.index_of_crash()], walk)
    return list(report_text(report, TextForm(arguments="values"), Style()))


def _report(image: ProcessImage, one: Json, base: Path) -> str:
    """A page, where the library for its template is installed; else the backtrace as text."""
    if find_spec("jinja2"):
        from whocall.report.page.writing import write_page

        path = str(base.with_suffix(".html"))
        write_page(image, path)
        return path
    text = base.with_suffix(".txt")
    with writing_text(text, private=True) as file:
        file.write(shown_text(f"{printable(one['path'])}\n\n{one['backtrace']}"))
    return str(text)
