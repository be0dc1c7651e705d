"""`whocall trace` in gdb."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from whocall.base.errors import UsageError
from whocall.base.output_file import writing_text
from whocall.commands import alternatives
from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import style_codes
from whocall.gdb.target.answering import answer, answer_of_files
from whocall.gdb.target.walks import demangle
from whocall.shared_front_end.options import Parsed, syntax

if TYPE_CHECKING:
    from whocall.gdb.target.answering import Write
    from whocall.report.form.jsonform import Json


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
    forms = [form for form in alternatives("trace", "form") if parsed.has(form)]
    if len(forms) > 1:
        raise UsageError(f"whocall trace: -{forms[0]} and -{forms[1]} are two forms; take one")
    return forms[0] if forms else "tree"


def _choice(parsed: Parsed) -> Json:
    thread = number_of(parsed, "thread")
    return {
        "threads": [] if thread is None else [thread],
        "most_depth": number_of(parsed, "depth"),
        "only": parsed.values.get("only", ""),
        "functions": parsed.values.get("function", ""),
        "module": parsed.values.get("module", ""),
        "least_size": number_of(parsed, "size"),
        "longer": parsed.values.get("longer", ""),
    }


def _tell(parsed: Parsed, wanted: Json, write: Write | None) -> None:
    if parsed.arguments:
        path = str(Path(parsed.arguments[0]).expanduser())
        answer_of_files("traces.trace_of_file", {**wanted, "file": path}, write=write)
    else:
        answer("traces.trace", wanted, every_thread=True, write=write)


def run(line: str) -> None:
    """Prints the trace of the program, or of a file."""
    from whocall.report.form.style import shown_text

    parsed = syntax("trace").parse(line)
    name = parsed.values.get("output")
    wanted = {
        "form": form_of(parsed),
        "choice": _choice(parsed),
        "last": number_of(parsed, "last"),
        "demangle": demangle(),
        "style": style_codes() if name is None else None,
    }
    if parsed.has("json"):
        silence()
    if name is None:
        _tell(parsed, wanted, None)
        return
    with writing_text(Path(name).expanduser(), private=True) as file:
        _tell(parsed, wanted, lambda text: (file.write(shown_text(text)), None)[1])


def run_elsewhere(line: str) -> None:
    """The same by another Python."""
    from whocall.base.programs import behind_dashes, flag, option
    from whocall.gdb.commands.elsewhere import flags, look_arguments, show
    from whocall.gdb.target.backend_arguments import core_and_program, search_arguments

    parsed = syntax("trace").parse(line)
    valued = {option.name for option in syntax("trace").options if option.value}
    values = dict(parsed.values)
    if "output" in values:
        values["output"] = str(Path(values["output"]).expanduser().absolute())
    arguments = flags(parsed, *sorted(parsed.flags - valued))
    arguments += [option(flag(each), value) for each, value in values.items()]
    if parsed.arguments:
        file = str(Path(parsed.arguments[0]).expanduser())
        more = [*search_arguments(), *look_arguments(), *behind_dashes(file)]
        show("trace", [*arguments, *more])
        return
    show("trace", [*core_and_program(), *arguments, *search_arguments(), *look_arguments()])
