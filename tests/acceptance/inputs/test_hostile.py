"""Dumps, reports and images that were written to exhaust or to stop whoever reads them."""

from __future__ import annotations

import base64
import gzip
import io
import os
import struct
import tarfile
from pathlib import Path

import pytest
from guards import guarded

from whocall.base.elf_head import build_id_of, read_elf_head
from whocall.base.errors import Error
from whocall.base.native_module import native
from whocall.container_images.container import layers_of
from whocall.container_images.merged_tree import MergedTree
from whocall.dumps import sparse
from whocall.dumps.minidump_core import Converter
from whocall.dumps.origin import known
from whocall.dumps.tar_members import TarFaultError, TarReader

CONTEXT = bytes(1232)


def minidump(streams: dict[int, bytes]) -> bytes:
    """Of x86-64 and Linux, with one thread and what else is given; RVAs count from the start."""
    info = struct.pack("<H18xI8x", 9, 0x8201)
    texts = {7: info.ljust(56, b"\0"), **streams}
    place = 32 + 12 * len(texts)
    rows, body = b"", b""
    for kind, text in texts.items():
        rows += struct.pack("<III", kind, len(text), place + len(body))
        body += text
    return struct.pack("<4sIIIIIQ", b"MDMP", 0xA793, len(texts), 32, 0, 0, 0) + rows + body


def threads(count: int, size: int, rva: int, memory: tuple[int, int, int] = (0, 0, 0)) -> bytes:
    """Rows whose registers all stand at `rva` and have so many bytes."""
    row = struct.pack("<4I2Q4I", 7, 0, 0, 0, 0, memory[0], *memory[1:], size, rva)
    return struct.pack("<I", count) + row * count


def test_rows_that_all_point_at_the_same_bytes_are_not_copied_as_often(tmp_path: Path) -> None:
    """Registers that claim to be as long as the file, names of 64 KiB."""
    size = 8 << 20
    module = struct.pack("<QIIII52xII24x", 0x1000, 0x1000, 0, 0, 64, size, 64)
    text = struct.pack("<I", 100_000) * 25_000
    data = minidump({
        3: threads(60_000, size, 0),
        4: struct.pack("<I", 60_000) + module * 60_000,
        99: text,
    }).ljust(size, b"\1")  # fmt: skip
    file = tmp_path / "dump"
    file.write_bytes(data)
    with guarded(20), file.open("rb") as dump:
        found = native.MinidumpAsCore(dump.fileno(), "x")
    assert found.threads == 60_000
    assert sum(len(path) for _, _, path, _ in found.modules) <= 1 << 25


def test_memory_of_a_minidump_is_not_written_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of ranges of memory are the same bytes of the file, and fill the disk."""
    monkeypatch.setenv("WHOCALL_UNPACK_LIMIT", "16M")
    piece = 1 << 20
    rows = b"".join(struct.pack("<QII", at * piece, piece, 0) for at in range(1, 1000))
    data = minidump({3: threads(1, 1232, 0), 5: struct.pack("<I", 999) + rows})
    file = tmp_path / "dump"
    file.write_bytes(data.ljust(piece, b"\1"))
    with file.open("rb") as dump, sparse.temporary() as core:
        with pytest.raises(Error, match="unpacks to more than 16 MiB; if that is right, allow it"):
            Converter(dump, "dump").write(core)
        assert os.fstat(core.fileno()).st_size == 0


MAPS = (
    b"0-10000000000000000 r-xp 00000000 00:00 0 /x",
    b"ffffffffffffffff-10000000000000000 r-xp 00000000 00:00 0 /x",
    b"1000-2000 r-xp ffffffffffffffffffffffff 00:00 0 /x",
)


@pytest.mark.parametrize("maps", MAPS)
def test_addresses_that_do_not_fit_are_left_out(tmp_path: Path, maps: bytes) -> None:
    last = (1 << 64) - 1
    module = struct.pack("<QIIII52xII24x", last, 0xFFFFFFFF, 0, 0, 0, 0, 0)
    data = minidump({
        3: threads(1, 1232, 0, (last, 64, 0)),
        4: struct.pack("<I", 1) + module,
        0x47670009: maps,
    })  # fmt: skip
    file = tmp_path / "dump"
    file.write_bytes(data.ljust(4096, b"\1"))
    with file.open("rb") as dump, sparse.temporary() as core:
        Converter(dump, "dump").write(core)


@pytest.mark.parametrize(("processor", "context"), [(9, 1232), (0, 716)])
def test_notes_and_segments_do_not_grow_with_the_square(
    tmp_path: Path, processor: int, context: int
) -> None:
    """Of 32 bits, too, where the mappings reach beyond what there is."""
    maps = "".join(f"0-{(1 << 40) + at:x} r-xp 00000000 00:00 0 /x\n" for at in range(200_000))
    rows = b"".join(struct.pack("<QII", at << 13, 4096, 0) for at in range(200_000))
    module = struct.pack("<QIIII52xII24x", 1, 1, 0, 0, 0, 0, 0)
    data = bytearray(minidump({
        3: threads(1, context, 0),
        4: struct.pack("<I", 200_000) + module * 200_000,
        5: struct.pack("<I", 200_000) + rows,
        0x47670009: maps.encode(),
    }))  # fmt: skip
    data[data.index(struct.pack("<H18xI8x", 9, 0x8201))] = processor
    file = tmp_path / "dump"
    file.write_bytes(data)
    with guarded(30), file.open("rb") as dump, sparse.temporary() as core:
        Converter(dump, "dump").write(core)
        os.lseek(core.fileno(), 0, os.SEEK_SET)
        head = core.read(1 << 12)
        (segments,) = struct.unpack_from("<H", head, 56 if processor else 44)
        assert segments == 0xFFFF  # the true number stands in a section header
        at = struct.unpack_from("<Q" if processor else "<I", head, 40 if processor else 32)[0]
        core.seek(at + (44 if processor else 28))
        assert int.from_bytes(core.read(4), "little") > 200_000


def test_a_report_of_many_fields_is_kept_in_part(tmp_path: Path) -> None:
    core = b"\x7fELF\2\1\1".ljust(16, b"\0") + b"\4\0"
    file = tmp_path / "report"
    with gzip.open(file, "wb", compresslevel=1) as packed:
        packed.write(b"ProblemType: Crash\n")
        for at in range(2_000):
            packed.write(b"Key%d: %s\n" % (at, b"v" * 100_000))
        packed.write(b"CoreDump: base64\n %s\n" % base64.b64encode(core))
    with file.open("rb") as opened, sparse.temporary() as out:
        crash = native.PackedCrash(opened.fileno(), "x")
        assert crash.fields["ProblemType"] == "Crash"
        assert sum(map(len, crash.fields.values())) < 1 << 25
        assert crash.write(out.fileno(), "/") == len(core)
        assert (crash.damage, crash.kind) == ("", "core")


def test_numbers_of_reports_may_be_none() -> None:
    fields = {"Signal": "\u00b2", "Date": "1" * 5000, "Pid": "1" * 5000}
    assert known(fields)["time"] == "1" * 5000
    assert known(fields)["signal"] == "\u00b2"
    assert known({"time": "\u00b2"})["time"] == "\u00b2"


def test_program_headers_that_claim_gigabytes(tmp_path: Path) -> None:
    """And a pipe, which has no writer."""
    file = tmp_path / "elf"
    head = bytearray(64)
    head[:6] = b"\x7fELF\2\1"
    struct.pack_into("<QQ", head, 24, 0, 64)
    struct.pack_into("<HH", head, 54, 0xFFFF, 0xFFFF)
    file.write_bytes(head)
    os.truncate(file, 5 << 30)
    assert read_elf_head(str(file)) is None
    os.mkfifo(tmp_path / "pipe")
    assert read_elf_head(str(tmp_path / "pipe")) is None
    assert build_id_of(str(tmp_path / "pipe")) == ""


def header(name: str, kind: bytes, size: int = 0, target: str = "") -> bytes:
    member = tarfile.TarInfo(name)
    member.type, member.size, member.linkname = kind, size, target
    return member.tobuf(tarfile.GNU_FORMAT)


def _image(tmp_path: Path, layer: bytes, before: bytes = b"") -> Path:
    listed = b'[{"Layers": ["layer.tar"]}]'
    parts = (
        before,
        header("manifest.json", tarfile.REGTYPE, len(listed)),
        listed.ljust(512, b"\0"),
        header("layer.tar", tarfile.REGTYPE, len(layer)),
        layer + bytes(-len(layer) % 512),
        bytes(1024),
    )
    path = tmp_path / "image.tar"
    path.write_bytes(b"".join(parts))
    return path


def _pax(**records: str) -> bytes:
    """An extended header: each record begins with its own length."""
    text = b""
    for key, value in records.items():
        record = f" {key}={value}\n".encode()
        length = len(record) + len(str(len(record) + 2))
        text += str(length).encode() + record
    return header("x", tarfile.XHDTYPE, len(text)) + text + bytes(-len(text) % 512)


def _sum(block: bytearray) -> bytes:
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def test_a_size_below_zero_is_not_followed(tmp_path: Path) -> None:
    """Python's tarfile goes back to the same header for ever (CVE-2025-8194)."""
    block = bytearray(header("x", tarfile.REGTYPE))
    block[124:136] = b"\xff" * 10 + b"\xfc\x00"  # -1024
    path = _image(tmp_path, b"", _sum(block))
    with guarded(20), pytest.raises(Error, match="a header tells of -1024 bytes"):
        layers_of(str(path), "x86_64")


def test_a_size_beyond_all_files_is_refused(tmp_path: Path) -> None:
    """Nothing can be passed over by so much; twenty digits are read of an extended header."""
    path = _image(tmp_path, b"", _pax(size="9" * 20) + header("x", tarfile.REGTYPE))
    with guarded(20), pytest.raises(Error, match="a header tells of 9{20} bytes"):
        layers_of(str(path), "x86_64")


def test_maps_of_sparse_files_are_not_gathered(tmp_path: Path) -> None:
    """In both forms they are lists that a packed layer may continue for gigabytes."""
    block = bytearray(header("old", tarfile.GNUTYPE_SPARSE, 512))
    block[482] = 1
    more = (b"1" * 504 + b"\1").ljust(512, b"\0") * 200 + bytes(512)
    digits = b"1" * (32 << 20)
    layer = (
        _sum(block) + more + bytes(512)
        + _pax(**{"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "n",
                  "GNU.sparse.realsize": "10"})
        + header("new", tarfile.REGTYPE, len(digits)) + digits
        + header("behind", tarfile.REGTYPE, 3) + b"abc".ljust(512, b"\0") + bytes(1024)
    )  # fmt: skip
    with guarded(20):
        tree = MergedTree(layers_of(str(_image(tmp_path, layer)), "x86_64"))
    assert tree.find("/behind") is not None
    assert tree.find("/old") is None
    assert tree.find("/new") is None


def test_members_that_are_no_files_are_passed_over(tmp_path: Path) -> None:
    """Devices, pipes, links in a circle, paths out of the image and longer than any."""
    kinds = (tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE)
    layer = b"".join(
        [
            *(header(f"special{at}", kind) for at, kind in enumerate(kinds)),
            header("a", tarfile.LNKTYPE, target="b"),
            header("b", tarfile.LNKTYPE, target="a"),
            header("self", tarfile.LNKTYPE, target="self"),
            header("one", tarfile.SYMTYPE, target="two"),
            header("two", tarfile.SYMTYPE, target="one/x"),
            header("../out", tarfile.REGTYPE),
            header("/etc/absolute", tarfile.REGTYPE),
            _pax(path="d/" * 200_000 + "deep") + header("x", tarfile.REGTYPE),
            bytes(1024),
        ]
    )
    tree = MergedTree(layers_of(str(_image(tmp_path, layer)), "x86_64"))
    for name in ("special0", "special1", "special2", "a", "b", "self", "one", "two", "out", "d"):
        assert tree.find(f"/{name}") is None, name
    assert tree.find("/etc/absolute") is not None
    assert list(tree.folder("/d")) == []


def test_an_image_of_more_files_than_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whocall.container_images.merged_tree._MOST", 100)
    layer = b"".join(header(f"{at}/{at}", tarfile.REGTYPE) for at in range(60)) + bytes(1024)
    with pytest.raises(Error, match="holds more than 100 files: unpack it, and name"):
        MergedTree(layers_of(str(_image(tmp_path, layer)), "x86_64"))


def test_lists_that_are_nested_too_deep(tmp_path: Path) -> None:
    (tmp_path / "index.json").write_text("[" * 200_000)
    with pytest.raises(Error, match="index.json is not JSON; save it anew"):
        layers_of(str(tmp_path), "x86_64")


@pytest.mark.parametrize("kind", ["gnu", "pax", "ustar"])
def test_the_reader_of_tars_beside_pythons(kind: str) -> None:
    """On what Python writes itself: long names, links, contents that end anywhere in a block."""
    formats = {"gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT, "ustar": tarfile.USTAR_FORMAT}
    made = io.BytesIO()
    names = ["a", "b/" * 40 + "c", "\u00e9", "d" * 99 + "/" + "e" * 90]
    names += [] if kind == "ustar" else ["f" * 300, "g/" * 400 + "h"]
    with tarfile.open(fileobj=made, mode="w", format=formats[kind]) as tar:
        for at, name in enumerate(names):
            member = tarfile.TarInfo(name)
            member.size = at * 511
            tar.addfile(member, io.BytesIO(bytes([at]) * member.size))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "x/" * (30 if kind == "ustar" else 200)
        tar.addfile(link)
    data = made.getvalue()
    made.seek(0)
    with tarfile.open(fileobj=made) as tar:
        wanted = [
            (each.name, each.linkname, _bytes_of(tar, each), each.offset_data) for each in tar
        ]
    assert _members(data) == wanted
    for cut in range(0, len(data) - 10240, 97):  # what is missing is said, or nothing is
        try:
            assert _members(data[:cut]) == wanted[: len(_members(data[:cut]))]
        except TarFaultError as error:
            assert "it" in str(error)


def _bytes_of(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = tar.extractfile(member) if member.isreg() else None
    return file.read() if file is not None else b""


def _members(data: bytes) -> list[tuple[str, str, bytes, int]]:
    file = io.BytesIO(data)

    def skip(size: int) -> bool:
        file.seek(size - 1, os.SEEK_CUR)
        return file.read(1) != b""

    reader = TarReader(file.read, skip)
    return [(each.name, each.target, b"".join(reader.contents()), each.place) for each in reader]
