"""`whocall trace` in gdb."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from whocall.core.errors import UsageError
from whocall.core.output_file import writing_text
from whocall.frontend.options import TRACE, Parsed
from whocall.gdb.host import settings
from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import current_style, warn, write_pieces
from whocall.gdb.target.inferior import current
from whocall.gdb.target.walks import demangle

if TYPE_CHECKING:
    from whocall.tracing.choice import Choice
    from whocall.tracing.source import OpenTrace


def number_of(parsed: Parsed, name: str) -> int | None:
    """The value of an option that takes a number; None without it."""
    text = parsed.values.get(name)
    if text is None:
        return None
    if not text.isdecimal():
        raise UsageError(f'whocall trace: -{name} takes a number, not "{text}"')
    return int(text)


def form_of(parsed: Parsed) -> str:
    """The form that is asked for; "tree" without one."""
    from whocall.tracing.form_names import FORMS

    forms = [form for form in FORMS if parsed.has(form)]
    if len(forms) > 1:
        raise UsageError(f"whocall trace: -{forms[0]} and -{forms[1]} are two forms; take one")
    return forms[0] if forms else "tree"


def _choice(parsed: Parsed) -> Choice:
    from whocall.tracing.choice import Choice

    thread = number_of(parsed, "thread")
    return Choice(
        threads=() if thread is None else (thread,),
        most_depth=number_of(parsed, "depth"),
        only=parsed.values.get("only", ""),
        functions=parsed.values.get("function", ""),
        module=parsed.values.get("module", ""),
    )


def _opened(parsed: Parsed) -> OpenTrace:
    from whocall.tracing.source import open_trace_file, trace_of

    if parsed.arguments:
        path = str(Path(parsed.arguments[0]).expanduser())
        return open_trace_file(path, settings.search())
    return trace_of(current(every_thread=True).image)


def run(line: str) -> None:
    """Prints the trace of the program, or of a file."""
    from whocall.report.form.style import Style
    from whocall.tracing.forms import telling_of
    from whocall.tracing.output import pieces

    parsed = TRACE.parse(line)
    form, choice, last = form_of(parsed), _choice(parsed), number_of(parsed, "last")
    if parsed.has("json"):
        silence()
    trace = _opened(parsed)
    warn(trace.warnings)
    telling = telling_of(trace, choice, demangle())
    name = parsed.values.get("output")
    if name is None:
        write_pieces(pieces(telling, form, current_style(), last))
        return
    with writing_text(Path(name).expanduser(), private=True) as file:
        file.writelines(pieces(telling, form, Style(), last))
