"""`whocall triage`: many cores, walked at once and put into buckets."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from whocall.cli.arguments import Values
    from whocall.triage.run import Findings
    from whocall.triage.store import Store
    from whocall.triage.work import Settings


def run(arguments: Values) -> int:
    """Exit status 1 when the store had no room for something that was found."""
    from whocall.base.errors import UsageError
    from whocall.cli.outputs import warn
    from whocall.triage.run import conclude
    from whocall.triage.store import Store
    from whocall.triage.work import Settings

    if not arguments.paths and not arguments.store:
        raise UsageError("name cores or directories of cores, or a --store of earlier results")
    if arguments.format == "html":
        from whocall.report.page.writing import needs_templates

        needs_templates("triage")
    settings = Settings(
        _search(arguments), float(arguments.time_limit), memory=arguments.memory_limit << 20
    )
    store = Store(arguments.store)
    try:
        _walk(arguments, store, settings)
        findings = conclude(store, arguments.compare)
        _reports(arguments, findings, settings)
        _write(arguments, findings)
        warn(findings.warnings)
        return 1 if store.unwritten else 0
    finally:
        store.close()


def _search(arguments: Values) -> Any:
    from whocall.base.records import replace
    from whocall.cli.inputs import wanted_search

    # What tells people of a long fetch cannot be handed to other processes.
    return replace(wanted_search(arguments), progress=None)


def _named(paths: list[str]) -> Iterator[str]:
    """The names, those on standard input in place of `-`; one a line, or ended by NULs."""
    import os

    from whocall.base.regular_file import standard_input

    for path in paths:
        if path != "-":
            yield path
            continue
        data = standard_input().read()
        separator = b"\0" if b"\0" in data else b"\n"
        yield from (os.fsdecode(name) for name in data.split(separator) if name)


def _walk(arguments: Values, store: Store, settings: Settings) -> None:
    from whocall.cli.outputs import require_other_file, warn
    from whocall.triage.progress import counted
    from whocall.triage.run import crashes_among, gather, wanted
    from whocall.triage.workers import Cluster, Local, jobs_of

    crashes = list(crashes_among(_named(arguments.paths)))
    require_other_file(arguments.output, *crashes)
    paths = wanted(crashes, store, settings, arguments.retry)
    if not paths:
        return
    executor = (
        Cluster(arguments.scheduler, settings)
        if arguments.scheduler
        else Local(min(jobs_of(arguments.jobs), len(paths)), settings)
    )
    warn(gather(executor.results(paths), store, counted("walking cores", len(paths))))


def _reports(arguments: Values, findings: Findings, settings: Settings) -> None:
    if arguments.reports or arguments.format in ("json", "html"):
        from whocall.triage.progress import counted
        from whocall.triage.representatives import represent

        buckets = findings.buckets
        told = counted("one core of each bucket", len(buckets))
        findings.warnings += represent(buckets, settings, arguments.reports, told)


def _write(arguments: Values, findings: Findings) -> None:
    from whocall.base.output_file import writing_text
    from whocall.report.form.style import shown_text

    if arguments.output is None:
        from whocall.cli.outputs import write_text

        write_text(_pieces(arguments, findings, to_file=False))
        return
    with writing_text(arguments.output, private=True) as file:
        file.writelines(map(shown_text, _pieces(arguments, findings, to_file=True)))


def _pieces(arguments: Values, findings: Findings, *, to_file: bool) -> Iterable[str]:
    from whocall.triage import forms

    if arguments.format == "json":
        return forms.json_text(findings)
    if arguments.format == "sarif":
        return forms.sarif_text(findings)
    if arguments.format == "html":
        from whocall.base.output_file import is_special
        from whocall.triage.page import page_text

        # Where a page goes that somebody else writes is not known.
        page = None if not to_file or is_special(arguments.output) else arguments.output
        return page_text(findings, page)
    from whocall.cli.inputs import screen_columns, wanted_style
    from whocall.report.form.style import Style, shown_line

    style = Style() if to_file else wanted_style(arguments)
    columns = 0 if to_file else screen_columns() or 0
    return (f"{shown_line(line)}\n" for line in forms.text_lines(findings, style, columns))
