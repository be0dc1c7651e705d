"""`--sysroot IMAGE`: container images that umoci and skopeo write."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

import whocall
from acceptance.helpers.front_ends import WHOCALL
from acceptance.inputs.crashes import Chains, Crash, chains, ran
from whocall.base.errors import Error
from whocall.container_images.container import layers_of
from whocall.container_images.merged_tree import MergedTree


@dataclass(frozen=True)
class Images:
    """One image in all forms, and a minidump of a process in it whose files are nowhere else."""

    forms: dict[str, Path]
    minidump: Path


@pytest.fixture(scope="module")
def images(plain: Crash, tmp_path_factory: pytest.TempPathFactory) -> Images:
    """Three layers: another program at the place, then the right one, then links and whiteouts."""
    folder = tmp_path_factory.mktemp("images")
    layout, bundle = folder / "layout", folder / "bundle"
    ran(["umoci", "init", "--layout", layout])
    ran(["umoci", "new", "--image", f"{layout}:app"])
    ran(["umoci", "unpack", "--rootless", "--image", f"{layout}:app", bundle])
    root = bundle / "rootfs"
    srv = root / "srv"
    (root / "usr/lib/app").mkdir(parents=True)
    (root / "lib").symlink_to("usr/lib")
    srv.mkdir()
    shutil.copy("/bin/true", srv / "program")
    shutil.copy("/bin/true", root / "usr/lib/app/old")
    ran(["umoci", "repack", "--image", f"{layout}:app", bundle])
    (srv / "program").unlink()
    shutil.rmtree(root / "usr/lib/app")
    (root / "usr/lib/app").mkdir()
    shutil.copy(plain.exe, root / "usr/lib/app/program-1.0")
    shutil.copy("/lib/x86_64-linux-gnu/libc.so.6", root / "usr/lib")
    os.link(root / "usr/lib/app/program-1.0", root / "usr/lib/app/linked")
    ran(["umoci", "repack", "--image", f"{layout}:app", bundle])
    (srv / "program").symlink_to("/lib/../lib/app/linked")
    ran(["umoci", "repack", "--image", f"{layout}:app", bundle])
    docker, packed, tar = folder / "docker.tar", folder / "docker.tar.gz", folder / "layout.tar"
    ran(["skopeo", "copy", f"oci:{layout}:app", f"docker-archive:{docker}:app:1"])
    ran(["gzip", "-k", docker])
    ran(["tar", "-C", layout, "-cf", tar, "."])
    minidump = folder / "in-the-container.dmp"
    place = "/srv/program"
    old = str(plain.exe).encode("utf-16-le")
    data = bytearray(plain.minidump.read_bytes())
    at = data.index(old)
    data[at - 4 : at] = (2 * len(place)).to_bytes(4, "little")
    data[at : at + 2 * len(place)] = place.encode("utf-16-le")
    minidump.write_bytes(data)
    forms = {"layout": layout, "tar": tar, "docker": docker, "docker.gz": packed}
    return Images(forms, minidump)


@pytest.mark.parametrize("form", ["layout", "tar", "docker", "docker.gz"])
def test_files_come_out_of_the_image(form: str, images: Images, true_chains: Chains) -> None:
    assert chains(images.minidump)[0] != true_chains[0]
    assert chains(images.minidump, sysroot=str(images.forms[form])) == true_chains


def test_only_what_is_mapped_is_copied_and_removed(images: Images, tmp_path: Path) -> None:
    command = [sys.executable, WHOCALL, "modules", images.minidump, "--json"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    said = ran([*command, "--sysroot", images.forms["docker"]], env=environment)
    modules = {module["path"]: module for module in json.loads(said)["modules"]}
    for path in ("/srv/program", "/lib/libc.so.6"):
        assert modules[path]["state"] == "found"
        assert modules[path]["file"].startswith(f"{tmp_path}/whocall-")
    assert modules["/lib64/ld-linux-x86-64.so.2"]["file"] == "/lib64/ld-linux-x86-64.so.2"
    assert list(tmp_path.iterdir()) == []


def _tar(place: Path, files: dict[str, bytes], links: dict[str, str]) -> Path:
    with tarfile.open(place, "w") as tar:
        for name, target in links.items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            tar.addfile(member)
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return place


def _docker(place: Path, layer: bytes, layers: object = ("layer.tar",)) -> Path:
    listed = json.dumps([{"Config": "c", "RepoTags": ["a:1"], "Layers": layers}]).encode()
    return _tar(place, {"manifest.json": listed, "layer.tar": layer}, {})


def test_upper_layers_hide_what_lies_below(tmp_path: Path) -> None:
    lower = _tar(
        tmp_path / "lower.tar",
        {"a/one": b"1", "a/two": b"2", "b/below": b"3", "c": b"4", "e/f/deep": b"5", "g/h": b"6"},
        {"d": "a", "up": "../../a/../c", "round": "round"},
    )
    upper = _tar(
        tmp_path / "upper.tar",
        {"b/above": b"7", "a/.wh.one": b"", "b/.wh..wh..opq": b"", "c/now": b"8", "e/.wh.f": b"",
         "d/three": b"9", "g": b"a", "./e//g": b"b"},
        {},
    )  # fmt: skip
    layers = {"one/layer.tar": lower.read_bytes(), "two/layer.tar": upper.read_bytes()}
    listed = json.dumps([{"Layers": list(layers)}]).encode()
    image = _tar(tmp_path / "image.tar", {"manifest.json": listed, **layers}, {})
    tree = MergedTree(layers_of(str(image), "x86_64"))
    there = {"/a/two": 0, "/d/two": 0, "/b/above": 1, "/c/now": 1, "/up/now": 1, "/a/three": 1,
             "/d/three": 1, "/g": 1, "/e/g": 1, "/a/../c/./now": 1, "/../../a/two": 0}  # fmt: skip
    gone = [
        "/a/one",
        "/d/one",
        "/b/below",
        "/c",
        "/e/f/deep",
        "/g/h",
        "/round",
        "/nothing",
        "/",
        "/a",
    ]
    found = {path: tree.find(path) for path in [*there, *gone]}
    assert {path: node.layer for path, node in found.items() if node is not None} == there


def test_a_header_that_claims_gigabytes_is_refused(tmp_path: Path) -> None:
    member = tarfile.TarInfo("name")
    member.type, member.size = tarfile.GNUTYPE_LONGNAME, 6 << 30
    layer = tmp_path / "layer"
    layer.write_bytes(member.tobuf(tarfile.GNU_FORMAT) + bytes(4 << 20))
    image = _docker(tmp_path / "image.tar", layer.read_bytes())
    with pytest.raises(Error, match="a header of 6442450944 bytes"):
        MergedTree(layers_of(str(image), "x86_64"))


def test_no_path_leads_out_of_the_image(
    images: Images, plain: Crash, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    shutil.copy(plain.exe, outside)
    up = "../" * 20
    evil = _tar(
        tmp_path / "layer.tar",
        {f"{up}{outside}.made": b"x", f"{outside}.made": b"x", "srv2": b"y"},
        {"srv": up + str(tmp_path), "loop": "loop", "srv/program": "/loop"},
    )
    image = _docker(tmp_path / "image.tar", evil.read_bytes())
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    with whocall.open_core(
        str(images.minidump), search=whocall.Search(sysroot=str(image))
    ) as found:
        (program,) = [module for module in found.modules if module.is_executable]
        assert program.state == "missing"
    assert not outside.with_name("outside.made").exists()
    made = [path for path in place.rglob("*") if path.is_file() or path.is_symlink()]
    assert made == []


@pytest.mark.parametrize("fault", ["cycle", "digest", "no layer", "no list", "two", "cut"])
def test_a_faulty_image_is_one_sentence(fault: str, images: Images, tmp_path: Path) -> None:
    path = tmp_path / "image"
    path.mkdir()
    (path / "oci-layout").write_text("{}")
    blobs = path / "blobs/sha256"
    blobs.mkdir(parents=True)
    digest = "0" * 64
    row = {"digest": f"sha256:{digest}"}
    index: object = {"manifests": [row]}
    if fault == "cycle":
        (blobs / digest).write_text(json.dumps(index))
    elif fault == "digest":
        index = {"manifests": [{"digest": "sha256:../../../../etc/passwd"}]}
    elif fault == "no layer":
        (blobs / digest).write_text(json.dumps({"layers": [{"digest": "sha256:" + "1" * 64}]}))
    elif fault == "no list":
        index = ["nothing"]
    elif fault == "two":
        index = {"manifests": [row, row]}
    (path / "index.json").write_text(json.dumps(index))
    if fault == "cut":
        path = tmp_path / "cut.tar"
        whole = images.forms["docker"].read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
    search = whocall.Search(sysroot=str(path))
    with pytest.raises(Error, match=str(path)) as told:
        whocall.open_core(str(images.minidump), search=search)
    assert "\n" not in str(told.value)


def test_what_is_no_image_is_told(plain: Crash) -> None:
    ran_bad = subprocess.run(
        [sys.executable, WHOCALL, "bt", plain.core, "--sysroot", plain.exe],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran_bad.returncode == 1
    assert f"{plain.exe} cannot be read as a container image" in ran_bad.stderr
