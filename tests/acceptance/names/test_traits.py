"""What tells of a function that nothing names: its only caller, its own text, what it calls."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from corpus.crash import crash
from oracles import nm_table

from acceptance.helpers import name_twins
from whocall.base.native_module import native

ROOT = Path(__file__).resolve().parents[3]
KEEP = "__attribute__((noinline, noclone))"
SOURCE = f"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
static {KEEP} int listener(int x) {{
  struct sockaddr address;
  memset(&address, x, sizeof address);
  int handle = socket(x, SOCK_STREAM, 0);
  if (bind(handle, &address, sizeof address) != 0) perror("cannot bind the listener");
  perror("shared text");
  return listen(handle, x) + raise_it(x);
}}
static {KEEP} int twice(int x) {{ perror("shared text"); return atoi("3") + x; }}
static {KEEP} int pointed_to(int x) {{ return atoi("4") * x; }}
int (*volatile pointer)(int);
int {KEEP} serve(int x) {{ return listener(x) + twice(x); }}
int {KEEP} other(int x) {{ pointer = pointed_to; return twice(x) + pointed_to(x) + 1; }}
int main(int argc, char **argv) {{ (void)argv; return serve(argc) + other(argc); }}
""".replace("static", f"#include <signal.h>\nstatic {KEEP} int raise_it(int x)"
            " { return raise(SIGABRT) + x; }\nstatic", 1)  # fmt: skip


@pytest.mark.parametrize("flags", ["-O2", "-O2 -fcf-protection", "-Os", "-O2 -fno-plt", "-O0"])
def test_what_tells_of_a_function(flags: str, tmp_path: Path) -> None:
    twin = name_twins.build(tmp_path, "-rdynamic", *flags.split(), source=SOURCE)
    names = native.FileNames(str(name_twins.stripped(twin)))
    start = {each.name: each.address for each in nm_table.symbols(twin)}
    traits = names.describe(start["listener"]).traits
    assert traits is not None
    caller, text, imports = traits
    assert (caller, text) == ("serve", "cannot bind the listener")
    wanted = ["socket", "bind", "perror", "listen"]
    assert [each for each in imports if each != "memset"] == wanted or set(wanted) <= set(imports)
    twice = names.describe(start["twice"]).traits
    assert twice is not None
    assert twice[:2] == (None, None), "two call it, and its text is another's too"
    pointed = names.describe(start["pointed_to"]).traits
    assert pointed is None or pointed[0] is None, "a pointer leads to it too"
    assert names.describe(start["serve"]).traits is None, "it has a name"


def test_outputs_tell_it(tmp_path: Path) -> None:
    # Later compilers move what stands behind perror() out of its function.
    flags = ("-rdynamic", "-O2", "-fno-reorder-blocks-and-partition")
    twin = name_twins.build(tmp_path, *flags, source=SOURCE)
    bare = name_twins.stripped(twin)
    core = crash(bare, tmp_path).core
    start = {each.name: each.address for each in nm_table.symbols(twin)}["listener"]

    def said(*words: str) -> str:
        command = [sys.executable, str(ROOT / "gdbext" / "whocall.py"), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    text = said("symbol", str(bare), f"{start:#x}")
    assert "    its only caller is serve\n" in text
    assert '    it alone uses the text "cannot bind the listener"\n' in text
    assert "    calls: " in text
    (place,) = json.loads(said("symbol", str(bare), f"{start:#x}", "--json"))["places"]
    assert place["traits"]["only_caller"] == "serve"
    explained = said("bt", str(core), str(bare), "--explain")
    assert "Its only caller is serve. It alone uses the text" in explained
    assert "only caller" not in said("bt", str(core), str(bare))
