"""Whether an output shows a hostile name as what it is. Nothing here asks whocall's own function
what is printable: it is said once more, by the categories of Python's Unicode data.
"""

from __future__ import annotations

import json
import re
import unicodedata
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from html.parser import HTMLParser
from xml.etree import ElementTree

from attacker.names import PLANTED

# What is invisible by itself, though its category is that of letters or marks.
_INVISIBLE = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10),
              *range(0xE0100, 0xE01F0), 0x180B, 0x180C, 0x180D, 0x180F}  # fmt: skip
# Format characters that are seen: signs over numbers in Arabic, Syriac and others.
_SEEN = {*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD}
_SEEN.update(range(0x13430, 0x13440))
_OWN = re.compile(r"\x1b\[(?:33|32|34|2|1|31|0)m")


def is_dangerous(letter: str) -> bool:
    code = ord(letter)
    return (
        (unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") and code not in _SEEN)
        or code in _INVISIBLE
        or code & 0xFFFE == 0xFFFE
        or 0xFDD0 <= code < 0xFDF0
    )


def letters(text: str, kept: str = "\n") -> Iterator[str]:
    """A complaint for each character that somebody might obey or not see."""
    for letter in sorted(set(text)):
        if letter not in kept and is_dangerous(letter):
            at = text.index(letter)
            yield f"U+{ord(letter):04x} in {text[max(at - 40, 0) : at + 40]!r}"


def lines(text: str) -> Iterator[str]:
    """A complaint for each line that begins as a name wanted it, and for styles in names."""
    for line in text.split("\n"):
        begin = line.lstrip(" |>*`-").encode("utf-8", "surrogateescape")
        if begin.startswith(PLANTED) and b"Zq" not in begin:
            yield f"a line begins with {line[:60]!r}"


def styled(text: str) -> Iterator[str]:
    """Of text with colours: our own styles, each ended before the next, and nothing else."""
    open_style = False
    for found in _OWN.finditer(text):
        ends = found[0] == "\x1b[0m"
        if ends != open_style:
            yield f"a style of a name: {text[max(found.start() - 30, 0) : found.end() + 30]!r}"
        open_style = not ends
    yield from letters(_OWN.sub("", text))
    yield from lines(_OWN.sub("", text))


def plain(text: str) -> Iterator[str]:
    yield from letters(text)
    yield from lines(text)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def strings_of_json(text: str) -> list[str]:
    return list(_strings(json.loads(text)))


def data(text: str) -> Iterator[str]:
    """JSON for programs: it reads back, and shows nothing by itself."""
    json.loads(text)
    yield from letters(text)


def shown_data(text: str) -> Iterator[str]:
    """JSON whose texts other tools show to people: these are printable too."""
    yield from data(text)
    for each in strings_of_json(text):
        yield from letters(each, "")


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.scripts: list[str] = []  # those that a browser would run
        self.policy = ""
        self._runs = False
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        held = dict(attrs)
        self._runs = tag == "script" and held.get("type") != "application/json"
        self.scripts += [""] * self._runs
        if held.get("http-equiv") == "Content-Security-Policy":
            self.policy = held.get("content") or ""
        self.attributes.update(name for name, _ in attrs)
        self.text += " ".join(value or "" for _, value in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._runs:
            self.scripts[-1] += data

    def handle_endtag(self, tag: str) -> None:
        self._runs = False

    def is_ours(self, script: str) -> bool:
        """Whether the page's own policy names it."""
        digest = b64encode(sha256(script.encode()).digest()).decode()
        return f"script-src 'sha256-{digest}';" in self.policy


def page(text: str) -> Iterator[str]:
    """A page: no element of a name's, no handler, nothing that turns text."""
    found = _Page()
    found.feed(text)
    if found.tags["script"] > len(found.scripts) + 1 or found.tags["img"] or found.tags["svg"]:
        yield f"elements of a name's: {found.tags}"
    yield from (f"a script: {each[:60]}" for each in found.scripts if not found.is_ours(each))
    yield from (f"a handler: {name}" for name in found.attributes if name.startswith("on"))
    yield from letters(text)
    yield from letters(found.text)


def picture(text: str, scripts: int = 0) -> Iterator[str]:
    """An SVG picture: XML, of known elements, and of so many scripts."""
    root = ElementTree.fromstring(text.encode())
    kinds = [each.tag.rpartition("}")[2] for each in root.iter()]
    if set(kinds) - {"svg", "style", "rect", "text", "g", "title", "script"}:
        yield f"elements of a name's: {set(kinds)}"
    if kinds.count("script") != scripts:
        yield f"{kinds.count('script')} scripts"
    for each in root.iter():
        yield from letters(each.text or "")
        yield from (f"a handler: {name}" for name in each.attrib if name.startswith("on"))
    yield from letters(text)


def folded(text: str) -> Iterator[str]:
    """A stack a line, and its count behind it."""
    yield from plain(text)
    for line in text.splitlines():
        if not re.search(r" \d+$", line):
            yield f"no count: {line!r}"
    if ";trusted 99" in text:
        yield "a stack of a name's"


def mail(text: str) -> Iterator[str]:
    yield from letters(text)
    if not text.isascii() or max(map(len, text.splitlines())) > 78:
        yield "no plain mail"


def markdown(text: str) -> Iterator[str]:
    """Outside of code nothing of a name's is markup; each row of a table has its five cells."""
    yield from plain(text)
    for line in text.split("\n"):
        bare = re.sub(r"`[^`]*`", "", re.sub(r"\\.", "", line))
        for ours in (
            "*signal handler called*",
            "*inlined*",
            "(x86_64)",
        ):  # what stands there of our own
            bare = bare.replace(ours, "")
        bare = bare.replace("&#8203;", "-")
        bare = re.sub(r"^(#+|>) |</?details>|<summary>[\d,]+ frames</summary>", "", bare)
        if "Zq" in line and line.startswith("|") and bare.count("|") != 6:
            yield f"cells: {line!r}"
        if "Zq" in line and re.search(r"[`*_\[\]<>~@!]|://|www\.", bare):
            yield f"markup: {line!r}"
