"""The page around a report's data: one file, with nothing from elsewhere.

Texts of the crashed program reach the page as JSON and as what the template escapes; the script
makes text nodes of them. The page's own policy (CSP) lets nothing run but the one script, told by
its hash, and nothing be fetched. The pages of `whocall serve` and `whocall triage` are made by the
same parts (`assets/base.html`, `parts.html`, `page.css`).
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whocall.base.optional_packages import lacking, need_of
from whocall.base.output_file import writing_text
from whocall.base.printable import printable, safe_json
from whocall.base.version import __version__
from whocall.report.form.jsonform import Json
from whocall.report.page.document import PageOptions, document

if TYPE_CHECKING:
    from jinja2 import Environment

    from whocall.base.process_image import ProcessImage

ASSETS = Path(__file__).parent / "assets"
# In this order they make one script; each tells at its head what it is for.
SCRIPTS = (
    *("base.js", "data.js", "place.js", "virtual_list.js", "addresses.js", "stack.js", "frame.js"),
    *("words.js", "threads.js", "flame.js", "tables.js", "search.js", "print.js", "main.js"),
)
LIST_SCRIPTS = ("base.js", "list.js")  # of pages that tell of many crashes


def json_for_script(value: Json) -> str:
    """JSON that may stand in a script element: nothing in it can end that, or a line."""
    text = safe_json(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    for bad, good in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        text = text.replace(bad, good)
    return text


def told(value: Any) -> Any:
    """JSON values with all their texts printable: a browser turns text round, too."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {key: told(item) for key, item in value.items()}
    return list(map(told, value)) if isinstance(value, (list, tuple)) else value


def asset(name: str) -> str:
    """A file of the page."""
    return (ASSETS / name).read_text(encoding="utf-8")


def hashed(text: str) -> str:
    """A text of the page as its policy names it."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def needs_templates(command: str = "report") -> None:
    """Raises Error, which says what of `command` needs it, where the library of the templates is
    missing: to be called before anything else is done.
    """
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise lacking(need_of(command, "jinja2")) from error


def environment(*folders: Path) -> Environment:
    """Where templates are read, those of `folders` too: all that they are given is escaped. Raises
    Error without jinja2.
    """
    needs_templates()
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    loader = FileSystemLoader([*folders, ASSETS])
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    made.filters["told"] = printable
    return made


def rendered(
    made: Environment, template: str, scripts: Sequence[str], **values: Any
) -> Iterator[str]:
    """A page of ours in pieces. All have one look, and one policy: the one script and the one style
    may be used, and nothing be fetched.
    """
    script = '"use strict";\n(() => {\n' + "".join(map(asset, scripts)) + "})();\n"
    style = asset("page.css")
    policy = (
        f"default-src 'none'; script-src {hashed(script)}; style-src {hashed(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    known = {"policy": policy, "style": style, "script": script, "version": __version__}
    pieces: Iterator[str] = made.get_template(template).generate(**{"home": "", **known, **values})
    return pieces


def page_text(report: Json, home: str = "") -> str:
    """The page that shows a report, HTML; `home` is the address of a list of crashes that it is
    among. Raises Error without jinja2.
    """
    report = told(report)
    lines = [_plain_stack(crash) for crash in report["crashes"]]
    data = json_for_script(report)
    values = {"report": report, "data": data, "lines": lines, "home": home}
    return "".join(rendered(environment(), "page.html", SCRIPTS, **values))


def _plain_stack(crash: Json, most: int = 200) -> list[str]:
    """The crashed thread's frames as lines, for who runs no scripts."""
    handed = {
        frame["level"]: " (" + ", ".join(each["shown"] for each in frame["arguments"]) + ")"
        for frame in (crash["details"][0]["frames"] if crash["details"] else ())
        if frame["arguments"] is not None
    }
    stack = crash["stacks"][crash["threads"][crash["main"]]["stack"]]
    lines = []
    for level, number in enumerate(stack["frames"][:most]):
        place = crash["places"][number]
        name = place["function"] or "??"
        mark = "?" if place["inferred"] else ""
        offset = "" if place["offset"] is None else f" (+{place['offset']})"
        module = f" from {place['module']}" if place["module"] else ""
        lines.append(
            f"#{level:<3} {place['pc']} in {name}{mark}{handed.get(level, '')}{offset}{module}"
            f" [{place['trust']}]"
        )
    if len(stack["frames"]) > most:
        lines.append(f"... {len(stack['frames']) - most:,} more frames")
    return lines


def write_page(
    images: ProcessImage | Iterable[ProcessImage],
    path: str,
    options: PageOptions | None = None,
    unread: Iterable[Exception] = (),
) -> Json:
    """Writes the report on an image, or on several, to the file `path`; returns its data, in which
    names are as the page shows them. `unread` is as `document` takes it.

    Raises Error where the file cannot be written, and leaves none half written.
    """
    from whocall.base.process_image import ProcessImage

    several = [images] if isinstance(images, ProcessImage) else images
    report: Json = told(document(several, options or PageOptions(), unread))
    with writing_text(path, private=True) as file:
        file.write(page_text(report))
    return report
