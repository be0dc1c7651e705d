"""Bombs that are logs of crashes."""

from __future__ import annotations

from pathlib import Path

from acceptance.bad_input.bombs import Command, bomb


def _resolve(folder: Path, text: bytes) -> list[Command]:
    path = folder / "log"
    path.write_bytes(text)
    return [["resolve", str(path)], ["resolve", "--json", str(path)]]


@bomb("log")
def one_line(folder: Path) -> list[Command]:
    """A line of 64 MB."""
    return _resolve(folder, b"#0 0x401000 (/bin/true+0x1000) " * (2 << 20))


@bomb("log")
def modules_without_end(folder: Path) -> list[Command]:
    """Frames in 100,000 files."""
    lines = (f"    #{at % 50} 0x{at:x}000  (/nowhere/{at}+0x1000)\n" for at in range(100_000))
    return _resolve(folder, "".join(lines).encode())


@bomb("log")
def mappings_without_end(folder: Path) -> list[Command]:
    """200,000 mappings over one another, and frames in them."""
    maps = (
        f"{at:x}000-{at + 99999:x}000 r-xp 00000000 00:00 1 /bin/{at}\n" for at in range(200_000)
    )
    frames = (f"    #{at % 50} 0x{at:x}100\n" for at in range(20_000))
    return _resolve(folder, "".join((*maps, *frames)).encode())


@bomb("log")
def digits_without_end(folder: Path) -> list[Command]:
    """Addresses of 100,000 digits, and everything that looks like the beginning of a frame."""
    lines = [b"#0 0x" + b"4" * 100_000 + b" (/bin/true+0x" + b"1" * 100_000 + b")\n"] * 40
    lines += [b"#" * 100_000 + b"\n", b"(" * 100_000 + b"\n", b"0x" * 100_000 + b"\n"] * 20
    lines += [b" " * 200_000 + b"at " + b"[" * 100_000 + b"\n", b"/" * 300_000 + b"+0x1\n"] * 20
    return _resolve(folder, b"".join(lines))


@bomb("log")
def control_sequences(folder: Path) -> list[Command]:
    """Ten million bytes of unfinished control sequences."""
    return _resolve(
        folder, (b"\x1b[" + b"1;" * 5000) * 1000 + b"\n" + b"\x1b]8;;" * 100_000 + b"\n"
    )


@bomb("log")
def records_of_records(folder: Path) -> list[Command]:
    """Words of libwhocall's records, each of which claims to be long."""
    return _resolve(folder, b"WHOCALLR" + b"\xff\xff\xff\x00" * (4 << 20))
