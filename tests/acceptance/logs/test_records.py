"""The compact records of crashes: read, checked, and refused with a sentence."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from guards import guarded

from acceptance.logs.addresses import Stack, stack_of
from acceptance.logs.judging import document, judge
from acceptance.logs.log_programs import resolved
from acceptance.logs.record_bytes import PROGRAM, STACK, module, record, section, thread
from whocall.base.errors import Error
from whocall.resolve.record import read_records
from whocall.resolve.record_text import record_lines

MUTATIONS = 5000


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    return stack_of(tmp_path_factory.mktemp("stack"))


def crash(
    stack: Stack, order: str = "<", sequence: int = 1, version: int = 1, interrupted: bool = False
) -> bytes:
    """The stack as a crash's: its first address is that of an instruction."""
    first = stack.addresses[0] - 1
    frames = [(first, 0, 0, 1), *((address, 0, 1, 0) for address in stack.addresses[1:])]
    if interrupted:
        frames[1] = (stack.addresses[1] - 1, 0, 1, 1)
    path = str(stack.path)
    return record(
        section(PROGRAM, path.encode(), order),
        section(77, b"of a later version", order),
        module(stack.base, stack.code[1], stack.base, stack.build_id, path, order),
        thread(98, frames, order),
        section(STACK, bytes(64), order),
        order=order,
        sequence=sequence,
        version=version,
    )


def _named(stack: Stack, place: Path) -> Path:
    shutil.copy(stack.built.debug, place / "anything")
    return place


@pytest.mark.parametrize(
    ("order", "registers"), [("<", ("rax", "rdx")), (">", ("zero", "at"))], ids=["<", ">"]
)
def test_a_record(tmp_path: Path, stack: Stack, order: str, registers: tuple[str, str]) -> None:
    """Of either byte order; what is unknown in it is passed over."""
    file = tmp_path / "record"
    file.write_bytes(crash(stack, order))
    found = document("", "--symbols", _named(stack, tmp_path), file)
    places = judge(found, stack.built.full)
    assert [each["is_return_address"] for each in places] == [False, True, True, True]
    assert all(each["verified"] for each in places)
    text = resolved("", "--symbols", tmp_path, file).stdout
    assert text.splitlines()[0] == (
        f"whocall: {stack.path}[98] crashed: SIGSEGV (signal 11, code 1) at address 0x0, thread "
        '98 "prog", record 1 of 2023-11-14 22:13:20 UTC'
    )
    assert "registers: {}=0x0000000000000000 {}=0x0000000000000001".format(*registers) in text
    assert "end of the stack: the outermost frame" in text


def test_a_frame_that_a_signal_interrupted(tmp_path: Path, stack: Stack) -> None:
    """In the middle of a stack, as where a handler crashes."""
    file = tmp_path / "record"
    file.write_bytes(crash(stack, interrupted=True))
    found = document("", "--symbols", _named(stack, tmp_path), file)
    places = judge(found, stack.built.full)
    assert [each["is_return_address"] for each in places] == [False, False, True, True]


def test_a_record_through_a_pipe(tmp_path: Path, stack: Stack) -> None:
    data = crash(stack).decode("utf-8", "surrogateescape")
    judge(document(data, "--symbols", _named(stack, tmp_path)), stack.built.full)


def test_records_behind_each_other(tmp_path: Path, stack: Stack) -> None:
    """A file that they are appended to; oldest first."""
    file = tmp_path / "records"
    file.write_bytes(crash(stack, sequence=2) + crash(stack, sequence=1))
    text = resolved("", file).stdout
    assert [line.split("record ")[1][0] for line in text.splitlines() if "crashed" in line] == [
        "1",
        "2",
    ]


def test_a_ring(tmp_path: Path, stack: Stack) -> None:
    """Slots that were never written, one that was written in part, and whole ones."""
    slot = 4096
    whole = [crash(stack, sequence=number) for number in (7, 5)]
    torn = crash(stack, sequence=6)[:200]
    slots = [b"", whole[0], torn, whole[1], b""]
    file = tmp_path / "ring"
    file.write_bytes(b"".join(each.ljust(slot, b"\0") for each in slots))
    done = resolved("", file)
    assert done.returncode == 0
    assert [
        line.split("record ")[1][0] for line in done.stdout.splitlines() if "crashed" in line
    ] == [
        "5",
        "7",
    ]
    assert f"{file}: the record at byte 8192 is damaged" in done.stderr


def test_a_stack_with_a_gap(stack: Stack) -> None:
    frames = [(address, 0, 1, 0) for address in stack.addresses]
    data = record(
        module(stack.base, stack.code[1], stack.base, "", "/prog"),
        thread(98, frames, gap=1000, outermost=1),
        thread(99, [], flags=2, name=b"other"),
        flags=3,
    )
    lines = list(record_lines(read_records(data, "x")[0][0]))
    assert "whocall: there was not room for all in the record" in lines
    assert lines[lines.index("... 1000 frames ...") + 1].startswith("#1003 0x")
    assert 'thread 99 "other" gives no answer: it blocks signals, or waits for the kernel' in lines


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data[:-8], "its end is missing"),
        (lambda data: data[:40], "ends before its header does"),
        (lambda data: data[:70] + b"!" + data[71:], "its checksum is wrong"),
        (lambda data: data[:8] + b"\x07" + data[9:], "names no byte order"),
        (lambda data: bytes(4096), "only slots that were never written"),
    ],
)
def test_damage_is_said(tmp_path: Path, stack: Stack, change: object, said: str) -> None:
    file = tmp_path / "record"
    file.write_bytes(change(crash(stack)))  # type: ignore[operator]
    done = resolved("", file)
    assert done.returncode == 1
    assert said in done.stderr
    assert str(file) in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_damage_stands_in_json_too(tmp_path: Path, stack: Stack) -> None:
    file = tmp_path / "records"
    file.write_bytes(crash(stack).ljust(4096, b"\0") + crash(stack)[:200])
    warnings = document("", file)["warnings"]
    assert f"{file}: the record at byte 4096 is damaged" in warnings[0]


def test_records_that_all_claim_to_be_long_take_no_time(stack: Stack) -> None:
    """Each is a checksum over the rest of the file; what is said of them is short."""
    size = 32 << 20
    data = bytearray(crash(stack).ljust(512, b"\0") * (size // 512))
    data = data[:size]
    for at in range(0, size, 512):
        data[at + 16 : at + 20] = (size - at).to_bytes(4, "little")
    whole = crash(stack)
    with guarded():
        found, said = read_records(bytes(whole.ljust(4096, b"\0") + data), "x")
    assert len(found) == 1
    assert len(said) <= 9
    with pytest.raises(Error, match="the record at byte 0 is damaged"), guarded():
        read_records(bytes(data), "x")


def test_a_later_version_is_refused(tmp_path: Path, stack: Stack) -> None:
    file = tmp_path / "record"
    file.write_bytes(crash(stack, version=2))
    done = resolved("", file)
    assert done.returncode == 1
    assert "is of version 2, and this whocall reads version 1: take a newer one" in done.stderr


def test_damaged_records_end_in_a_sentence(stack: Stack) -> None:
    """Thousands, most with a checksum that is right again."""
    chance = random.Random(16)
    original = crash(stack)
    read = refused = 0
    with guarded():
        for number in range(MUTATIONS):
            data = bytearray(original)
            for _ in range(chance.randint(1, 6)):
                data[chance.randrange(24, len(data))] = chance.choice(
                    (0, 1, 0x7F, 0xFF, chance.randrange(256))
                )
            if number % 8:
                data[20:24] = bytes(4)
                import zlib

                data[20:24] = zlib.crc32(data).to_bytes(4, "little")
            cut = data[: chance.randrange(len(data))] if number % 16 == 0 else data
            try:
                found, _ = read_records(bytes(cut), "x")
                for each in found:
                    list(record_lines(each))
                read += 1
            except Error as error:
                assert str(error).startswith("x: ")
                refused += 1
    assert read > MUTATIONS // 10
    assert refused > MUTATIONS // 10
