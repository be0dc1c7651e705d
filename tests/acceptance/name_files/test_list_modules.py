"""Which module a given list is for, at which base; and that what does not fit lends no names."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from oracles.tools import environment, run

from acceptance.helpers import name_lists, name_twins
from acceptance.name_files.given_lists import PRINTED, SOURCE, remark, score, search, written
from whocall import open_process

SOURCE_OF_MANY = "".join(
    f"int f{at}(int a) {{ return exported(a) * {at} + pointer(a) {'* a' * at}; }}\n"
    for at in range(40)
)


def test_another_base_is_named_and_not_guessed(twin: Path, tmp_path: Path) -> None:
    bare = name_twins.stripped(twin)
    listed = written(tmp_path / "ghidra.csv", name_lists.ghidra_functions(twin))
    assert not score(bare, twin, listed).by_source
    assert f"give it as {listed}@0x100000." in remark(bare, listed)
    for base in ("@100000", "@0x100000"):
        found = score(bare, twin, listed + base)
        assert not found.contradictions
        assert found.by_source["symbol-file"] >= 8
        assert remark(bare, listed + base) == ""
    assert "lends no names" in remark(bare, listed + "@200000")
    below = "".join(
        f"{each.address + 0x5000:x} T {each.name}\n" for each in name_lists.functions_of(twin)
    )
    moved = written(tmp_path / "moved", below)
    fixed = tmp_path / "fixed"
    fixed.mkdir()
    fixed_twin = name_twins.build(fixed, "-no-pie", source=SOURCE)
    low = "".join(
        f"{each.address - 0x400000:x} T {each.name}\n"
        for each in name_lists.functions_of(fixed_twin)
    )
    at_zero = written(tmp_path / "zero", low)
    assert f"{moved}@0x5000." in remark(bare, moved)
    fixed_bare = name_twins.stripped(fixed_twin)
    assert f"{at_zero}@-0x400000." in remark(fixed_bare, at_zero)
    assert score(fixed_bare, fixed_twin, f"{at_zero}@-400000").by_source["symbol-file"] >= 8


@pytest.mark.parametrize("form", ["nm", "nm -S", "Breakpad", "IDA", "JSON", "map"])
def test_another_build_lends_no_names(form: str, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    more = SOURCE + 'int more(int a) { return exported(a) ? printf("%d", a) : a * 77; }\n'
    link = tmp_path / "map"
    twin = name_twins.build(tmp_path, source=SOURCE)
    foreign = name_twins.build(other, "-O3", f"-Wl,-Map={link}", source=more + SOURCE_OF_MANY)
    text = link.read_text() if form == "map" else PRINTED[form](foreign)
    bare = name_twins.stripped(twin)
    listed = written(tmp_path / "list", text)
    assert not score(bare, twin, listed).by_source
    said = remark(bare, listed)
    assert "lends no names" in said, said
    assert listed in said


def stopped(program: Path, *lists: str) -> tuple[list[str], list[str], list[str]]:
    """Warnings, names in the program and remarks on modules of one that stops itself."""
    from whocall.report.tables.modules import all_facts

    with subprocess.Popen([program]) as process:
        try:
            os.waitpid(process.pid, os.WUNTRACED)
            with open_process(process.pid, search=search(*lists)) as image:
                facts = all_facts(image)
                crash = image.backtrace(image.index_of_crash())
                named = [f.function for f in crash.frames if f.name_source == "symbol-file"]
                return image.warnings, [str(name) for name in named], [f.trouble for f in facts]
        finally:
            process.kill()


def test_which_module_a_list_is_for(twin: Path, tmp_path: Path) -> None:
    bare = name_twins.stripped(twin, "prog")
    text = run(["nm", "-n", str(twin)])
    chain = ["depth"] * 4 + ["middle", "exported", "main"]
    for given in ("whatever", "prog.map", "prog=other", f"{bare}=other", "other"):
        listed = written(tmp_path / given.rpartition("=")[2].rpartition("/")[2], text)
        module = given.rpartition("=")[0]
        warnings, named, _ = stopped(bare, f"{module}={listed}" if module else listed)
        assert named == chain, given
        assert not warnings
    for given, words in {
        "libc.so.6=other": ["other", "libc.so.6", "lends no names"],
        "libq.so=other": ["libq.so", "whocall modules"],
        "libq.so.1.map": ["libq.so.1.map", "for no module"],
        "nowhere": ["nowhere", "cannot be opened"],
    }.items():
        module, _, name = given.rpartition("=")
        listed = str(tmp_path / name)
        if name != "nowhere":
            written(tmp_path / name, text)
        warnings, named, troubles = stopped(bare, f"{module}={listed}" if module else listed)
        assert named == [], given
        assert len(warnings) == 1
        assert all(word in warnings[0] for word in words), warnings
        assert given != "libc.so.6=other" or warnings[0] in troubles


def test_breakpad_knows_its_module(twin: Path, tmp_path: Path) -> None:
    bare = name_twins.stripped(twin, "prog")
    text = name_lists.breakpad(twin)
    right = written(tmp_path / "any.sym", text)
    warnings, named, _ = stopped(bare, right)
    assert named[-1] == "main"
    assert not warnings
    own = name_lists.breakpad_id(name_lists.build_id(twin))
    wrong = written(tmp_path / "wrong.sym", text.replace(own, own[::-1]).replace("twin", "prog"))
    warnings, named, troubles = stopped(bare, wrong)
    assert named == []
    assert len(warnings) == 1
    assert own in warnings[0]
    assert own[::-1] in warnings[0]
    assert warnings[0] in troubles


def test_paths_with_signs(twin: Path, tmp_path: Path) -> None:
    bare = name_twins.stripped(twin)
    for name in ("a=b@10", "c@beef", "d=e", "f g@"):
        listed = written(tmp_path / name, run(["nm", str(twin)]))
        assert score(bare, twin, listed).by_source, name
        assert score(bare, twin, f"bare={listed}").by_source, name
        assert not score(bare, twin, f"other={listed}").by_source, name


def test_command_line(twin: Path, tmp_path: Path) -> None:
    """`--symbols` names functions; what lends no names is a warning, not an error."""
    bare = name_twins.stripped(twin)
    listed = written(tmp_path / "list", run(["nm", str(twin)]))
    entry = Path(__file__).parents[3] / "gdbext" / "whocall.py"
    command = ["/usr/bin/env", "python3", str(entry), "functions", str(bare), "^depth$"]
    done = subprocess.run(
        [*command, "--symbols", listed, "--symbols", "/nowhere"],
        capture_output=True, text=True, check=True, env=environment(),
    )  # fmt: skip
    assert " symbol-file depth" in done.stdout
    assert done.stderr.startswith("warning: /nowhere cannot be opened")
