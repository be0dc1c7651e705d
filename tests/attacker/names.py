"""Names that were made to be obeyed: by terminals, pagers, readers of lines, browsers, tables."""

from __future__ import annotations

import random
from collections.abc import Iterator

MARK = b"Zq"  # stands in each, so that it is found again
PLANTED = (b"#1 0x401000", b"Thread 7 (", b"warning: all is well", b"whocall: done", b"</script>")
"""What stands behind a line feed in them: no line of any output begins so."""

NAMES: dict[str, bytes] = {
    "frame": b"Zq\n#1 0x401000 in trusted_fn () at safe.c:1 [cfi]",
    "frame after return": b"Zq\r\n#1 0x401000 in trusted_fn () [cfi]",
    "frame after overwriting": b"Zq\r\x1b[K#1 0x401000 in trusted_fn () [cfi]",
    "thread": b"Zq\nThread 7 (LWP 7):\n#1 0x401000 in main ()",
    "warning": b"Zq\nwarning: all is well\nwhocall: done",
    "vertical": b"Zq\x0b#1 0x401000\x0c#1 0x401000\x1c\x1d\x1e\x85",
    "next line": "Zq\x85#1 0x401000\u2028#1 0x401000\u2029#1 0x401000".encode(),
    "clear": b"Zq\x1b[2J\x1b[H\x1b[3J\x1bc",
    "conceal": b"Zq\x1b[8mhidden\x1b[28m\x1b[0m",
    "styles": b"Zq\x1b[33m\x1b[32m\x1b[34m\x1b[2m\x1b[1m\x1b[31m\x1b[0mZq",
    "title": b"Zq\x1b]0;title\x07\x1b]52;c;cm0=\x07\x1b]8;;http:x\x07",
    "eight bits": "Zq\x9b2J\x9d0;title\x9c\x90q\x9c".encode(),
    "raw eight bits": b"Zq\x9b2J\x9d0;title\x9c\x90q\x9c",
    "backspace": b"Zqfalse\x08\x08\x08\x08\x08true \x7f\x7f",
    "tabs": b"Zq\t#1\t0x401000\tin\ttrusted_fn ()",
    "bell": b"Zq\x07\x0e\x0f\x05\x1bZ\x1b[c\x1b[6n",
    "turned": "Zq\u202e)( nf_detsurt ni 000104x0 1#\u202c".encode(),
    "isolates": "Zq\u2066\u2067\u2068\u2069\u200e\u200f\u061c".encode(),
    "invisible": "Zq\u200b\u200c\u200d\u2060\ufeff\u00ad\u3164\u115f\u180e".encode(),
    "tags": "Zq\U000e0001\U000e0041\U000e007f\ufe0f\U000e0100".encode(),
    "noncharacters": "Zq\ufffe\uffff\ufdd0\U0001fffe\U0010ffff".encode(),
    "no utf-8": b"Zq\xff\xfe\xc0\x80\xe2\x82\xf0\x9f\x98\xed\xa0\x80\xf4\x90\x80\x80",
    "cut utf-8": b"Zq\xe2\x80\nZq\xe2\xae\xf3\xa0\x81",
    "script": b"Zq<script>hit()</script><img src=x onerror=hit()>",
    "comment": b"Zq--><!--<svg onload=hit()>]]><![CDATA[&lt;&#60;",
    "quotes": b"Zq\"'`\\\"\\'${x}{{7*7}}{% x %}%s%n%x",
    "template": b"Zq{{ self.__init__ }}{# #}{%raw%}",
    "json": b'Zq","function":"main","trust":"cfi"},{"x":"\\u0000',
    "json end": b'Zq"}]}]}\n{"schema":"whocall.backtrace/1"}',
    "markdown": b"Zq](http://evil)![x](http://evil)**b**_i_~~s~~ @all #1",
    "markdown code": b"Zq`x``y```\n# Head\n> quote\n- item | cell | cell |",
    "markdown table": b"Zq | #1 | main | | cfi |\n| --- | --- |\n<details>",
    "link": b"Zq http://evil.example/ www.evil.example mail@evil.example",
    "formula": b"=Zq|' /C calc'!A0",
    "formula plus": b"+Zq@SUM(1+1)*cmd|' /C calc'!A0,\"x\",\n=1",
    "shell": b"Zq$(id)`id`;id|id&id>x\nshell id",
    "option": b"-Zq-ex=shell id",
    "pipe": b"| Zq shell id",
    "gdb": b"Zq\nshell id\npython print(1)\nquit",
    "format": b"Zq%s%d%n{0}{name!r:>{width}}",
    "folded": b"Zq;main;run 7\nmain;trusted 99\nx ",
    "spaces": b"Zq" + b" " * 40 + b"[cfi]",
    "backslashes": b"Zq\\n#1 0x401000 in trusted_fn ()\\x1b[2J\\\\n",
    "wide": "Zq\uff21\uff22\u4e2d\u6587\U0001f600e\u0301\u0301".encode(),
    "looks alike": "Zqm\u0430in \u00a0\u2007 \u037e \uff1a".encode(),
    "mangled": b"_ZN2Zq1\nE1\x1b[2Jv",
    "rust": b"_RNvC2Zq4\x1b[1x",
    "every control": b"Zq" + bytes(range(1, 32)) + b"\x7f",
}


def made(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """More of them: pieces of those above, one behind the other."""
    chance = random.Random(seed)
    pieces = [name[at : at + 9] for name in NAMES.values() for at in range(0, len(name), 5)]
    for number in range(count):
        name = MARK + b"".join(chance.choices(pieces, k=chance.randrange(1, 8)))
        yield f"made {seed}/{number}", name.replace(b"\0", b"\x01")
