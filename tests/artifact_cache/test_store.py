"""What is kept is made once, by one maker, again when it is damaged, and not for ever."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from artifact_cache import Tool, compilers, default_place, kept, kept_copy, recipe
from artifact_cache.recipe import key_of
from artifact_cache.store import Store

LARGE = 1 << 40


@dataclass(frozen=True)
class Build:
    """As a recipe has it."""

    flags: tuple[str, ...]
    spared: frozenset[str] = frozenset()


class Maker:
    """Counts how often it is asked; what it makes is a file with some text."""

    def __init__(self, text: str = "made") -> None:
        self.text = text
        self.times = 0

    def __call__(self, place: Path) -> Path:
        self.times += 1
        (place / "sub").mkdir()
        file = place / "sub" / "file"
        file.write_text(self.text)
        return file


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    made = Store(tmp_path / "store", LARGE)
    yield made
    made.close()


def test_made_once_and_found_where_it_was_made(store: Store) -> None:
    maker = Maker()
    first, second = (kept("it", maker, store=store) for _ in range(2))
    assert first == second
    assert second.read_text() == "made"
    assert maker.times == 1
    other = kept("another", maker, store=store)
    assert other != first
    assert maker.times == 2


def test_the_key_hangs_on_source_flags_and_environment_of_the_making(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    source.write_text("int main(void) { return 0; }\n")
    build = (source, Build(("-O2",), frozenset("ab")))
    key = key_of(build)
    assert key == key_of([source, Build(("-O2",), frozenset("ba"))])
    elsewhere = tmp_path / "checkout" / "other.c"
    elsewhere.parent.mkdir()
    shutil.copy(source, elsewhere)
    assert key_of((elsewhere, build[1])) == key, "the contents count"
    others = [
        (source, Build(("-O1",), frozenset("ab"))),
        (source, Build(("-O2", ""), frozenset("ab"))),
        (source, Build(("-O2",), frozenset("a"))),
        (source, source, Build(("-O2",), frozenset("ab"))),
        (str(source), build[1]),
    ]
    source.write_text("int main(void) { return 1; }\n")
    assert key not in {key_of(other) for other in [build, *others]}
    assert key_of(("12", "3")) != key_of(("1", "23"))
    assert key_of(1) != key_of("1")
    with pytest.raises(TypeError):
        key_of(lambda: None)


def test_the_key_hangs_on_the_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tool := tmp_path / "some-compiler").write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    build = compilers(str(tool))
    keys = {key_of(build), key_of(compilers("no-such-compiler")), key_of(compilers("gcc"))}
    tool.write_text("#!/bin/sh\nexit 0\n")
    recipe._found.cache_clear()
    keys.add(key_of(build))
    assert len(keys) == 4
    monkeypatch.setattr("platform.release", lambda: "another kernel")
    recipe.machine.cache_clear()
    keys.add(key_of(compilers(str(tool))))
    recipe.machine.cache_clear()
    assert len(keys) == 5
    assert key_of(Tool("gdb")) == key_of(Tool("gdb"))


def _shorten(file: Path) -> None:
    file.write_text("mad")


def _change(file: Path) -> None:
    file.write_text("maid")


def _remove(file: Path) -> None:
    file.unlink()


def _break_the_seal(file: Path) -> None:
    (seal,) = file.parents[2].glob("*.seal")
    seal.write_text(seal.read_text()[:20])


def _take_the_seal(file: Path) -> None:
    (seal,) = file.parents[2].glob("*.seal")
    seal.unlink()


def _spoil_the_value(file: Path) -> None:
    value = file.parents[1] / "value.pickle"
    status = value.stat()
    value.write_bytes(b"?" * status.st_size)
    os.utime(value, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize(
    "damage",
    [_shorten, _change, _remove, _break_the_seal, _take_the_seal, _spoil_the_value],
)
def test_what_is_damaged_is_made_anew(store: Store, damage: object) -> None:
    maker = Maker()
    file = kept("it", maker, store=store)
    assert callable(damage)
    damage(file)
    assert kept("it", maker, store=store).read_text() == "made"
    assert maker.times == 2
    kept("it", maker, store=store)
    assert maker.times == 2


def test_a_copy_may_be_changed(tmp_path: Path) -> None:
    made = []

    def make(file: Path) -> None:
        made.append(file)
        file.write_text("made")
        file.chmod(0o755)

    for name in ("one", "other"):
        copy = kept_copy(("a copy", str(tmp_path)), make, tmp_path / name)
        assert copy.read_text() == "made"
        assert copy.stat().st_mode & 0o777 == 0o755
        copy.write_text("changed")
    assert len(made) == 1


def test_what_leans_on_a_library_goes_with_it(store: Store, tmp_path: Path) -> None:
    (library := tmp_path / "lib.so").write_text("old")
    maker = Maker()
    for times, text in ((1, ""), (2, "upgraded")):
        library.write_text(text)
        for _ in range(2):
            kept("it", maker, outside=lambda _: [library], store=store)
            assert maker.times == times


def test_who_fails_leaves_nothing(store: Store) -> None:
    def failing(place: Path) -> Path:
        (place / "half").touch()
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        kept("it", failing, store=store)
    file = kept("it", Maker(), store=store)
    assert not (file.parents[1] / "half").exists()


CONCURRENT = """
import sys, time
from pathlib import Path
from artifact_cache import kept
from artifact_cache.store import Store
root, log = map(Path, sys.argv[1:3])
def make(place):
    with log.open("a") as file:
        file.write("made\\n")
    (place / "half").touch()
    time.sleep(float(sys.argv[3]))
    (place / "whole").touch()
    return place
store = Store(root, 1 << 40)
place = kept("it", make, store=store)
assert (place / "whole").exists()
store.close()
"""


def _another(root: Path, log: Path, seconds: float) -> subprocess.Popen[bytes]:
    tests = str(Path(__file__).parents[1])
    arguments = [sys.executable, "-c", CONCURRENT, str(root), str(log), str(seconds)]
    return subprocess.Popen(arguments, env={**os.environ, "PYTHONPATH": tests})


def test_of_many_makers_at_once_one_makes(tmp_path: Path) -> None:
    log = tmp_path / "log"
    makers = [_another(tmp_path / "store", log, 0.3) for _ in range(4)]
    assert [maker.wait(60) for maker in makers] == [0] * 4
    assert log.read_text() == "made\n"


def test_a_maker_that_is_killed_holds_up_nobody(tmp_path: Path) -> None:
    log = tmp_path / "log"
    killed = _another(tmp_path / "store", log, 600)
    while not (log.exists() and log.read_text()) and killed.poll() is None:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait(60)
    assert _another(tmp_path / "store", log, 0).wait(60) == 0
    assert log.read_text() == "made\n" * 2


def _fill(store: Store, names: str) -> None:
    for name in names:
        kept(name, Maker("x" * 100_000), store=store)


def _found(root: Path) -> int:
    return len([path for path in root.iterdir() if path.is_dir()])


def test_who_loses_what_a_run_used_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "store"
    store = Store(root, 350_000)
    _fill(store, "abc")
    store.close()
    assert capsys.readouterr().err == ""
    for seal in root.glob("*.seal"):
        os.utime(seal, (0, 0))  # of another day
    store = Store(root, 350_000)
    _fill(store, "def")
    store.close()
    assert capsys.readouterr().err == ""
    store = Store(root, 350_000)
    _fill(store, "gh")
    store.close()
    assert "2 entries that were used in the last hours are beyond" in capsys.readouterr().err


def test_the_oldest_go_when_the_last_user_leaves(tmp_path: Path) -> None:
    root = tmp_path / "store"
    one, other = (Store(root, 350_000) for _ in range(2))
    _fill(one, "abcde")
    _fill(one, "a")  # once more
    one.close()
    assert _found(root) == 5, "another is still using them"
    other.close()
    assert _found(root) == 3
    store = Store(root, 350_000)
    maker = Maker("x" * 100_000)
    for name in "ade":
        kept(name, maker, store=store)
    assert maker.times == 0
    store.close()


def test_what_was_interrupted_goes_too(tmp_path: Path) -> None:
    root = tmp_path / "store"
    store = Store(root, LARGE)
    _fill(store, "a")
    (root / "half").mkdir()
    (root / "half" / "file").touch()
    (root / "half.lock").touch()
    store.close()
    assert _found(root) == 1
    assert not (root / "half.lock").exists()


def test_where_it_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/cache")
    assert default_place() == "/some/cache/whocall-tests"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert default_place() == "/home/me/.cache/whocall-tests"


def test_off_makes_everything_anew_and_leaves_nothing(tmp_path: Path) -> None:
    script = "from artifact_cache import kept; print(kept('it', lambda place: place))"
    said = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "WHOCALL_TEST_CACHE": "off", "TMPDIR": str(tmp_path),
                 "PYTHONPATH": str(Path(__file__).parents[1])},
            capture_output=True, text=True, check=True,
        ).stdout
        for _ in range(2)
    ]  # fmt: skip
    assert said[0] != said[1]
    assert all(text.startswith(str(tmp_path)) for text in said)
    assert list(tmp_path.iterdir()) == []
