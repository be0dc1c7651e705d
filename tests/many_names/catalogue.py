"""Wheels with compiled code, of the languages that they are written in. Which of them are looked at
is drawn by lot; whether they ship symbols shows when they are there.
"""

from __future__ import annotations

import random
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from whocall.base.elf_head import read_elf_head

PACKAGES = {
    "Rust": """
        bcrypt blake3 clvm-rs cryptography css-inline deltalake fastuuid granian hf-xet
        jiter jsonschema-rs lancedb libcst minijinja nh3 orjson oxrdflib primp
        py-bip39-bindings pydantic-core pyoxigraph pyreqwest-impersonate pyromark
        python-calamine ry rloop robyn rpds-py rtoml rustworkx safetensors selectolax
        sudachipy tantivy tiktoken tokenizers tree-sitter-rust watchfiles y-py zstd-rs
    """,
    "C++": """
        apache-tvm-ffi awkward-cpp blosc2 boost-histogram box2d-py contourpy ctranslate2
        duckdb faiss-cpu fasttext-wheel grpcio h3 highspy hnswlib kiwisolver lightgbm
        matplotlib mapbox-earcut ml-dtypes msgspec ncnn nanobind numexpr numpy onnx
        openexr opencolorio orbax pandas pikepdf polyleven pyarrow-hotfix pybase64
        pyclipper pycapnp pyzmq python-snappy rapidfuzz re2 scikit-image sentencepiece
        simsimd symengine tflite-runtime ujson usearch vtk xxhash zeroc-ice
    """,
    "Cython": """
        acora aiohttp asyncpg av biotite blis cartopy cftime cymem cytoolz cvxopt edlib
        fastavro fiona frozenlist gensim gevent httptools implicit kivy line-profiler lxml
        marisa-trie mdanalysis multidict murmurhash netcdf4 pomegranate preshed propcache
        pymssql pysam pyproj rasterio scikit-learn shapely spacy srsly statsmodels thinc
        uvloop wordcloud yarl
    """,
    "C": """
        argon2-cffi-bindings astropy bitarray bottleneck brotli cbor2 cffi coverage crc32c
        greenlet hiredis immutables isal jq kerberos levenshtein lz4 lxml-html-clean
        markupsafe mypy mysqlclient netifaces pillow psutil psycopg2-binary pycairo
        pycosat pycryptodome pycurl pyerfa pygit2 pymongo pynacl python-ldap pyodbc pyyaml
        regex rencode ruamel.yaml.clib setproctitle simplejson sqlalchemy tornado
        tree-sitter twisted-iocpsupport websockets wrapt zope.interface zstandard
    """,
}
LEAST = 50  # functions that have symbols
LARGEST = 60 << 20  # bytes


def drawn(seed: int) -> Iterator[tuple[str, str]]:
    """Languages and packages, in an order that the lot decides."""
    everything = [
        (language, name) for language, names in PACKAGES.items() for name in names.split()
    ]
    random.Random(seed).shuffle(everything)
    yield from everything


def fetched(package: str, folder: Path) -> list[Path]:
    """The ELF files in its wheel that ship symbols; none where the registry has no such wheel."""
    folder.mkdir(parents=True)
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:"]
    command += ["--disable-pip-version-check", "-d", str(folder), package]
    subprocess.run(command, capture_output=True, check=False, timeout=600)
    for wheel in folder.glob("*.whl"):
        with zipfile.ZipFile(wheel) as packed:
            packed.extractall(folder / "whole")
        wheel.unlink()
    return [path for path in sorted(folder.rglob("*")) if has_symbols(path)]


def has_symbols(path: Path) -> bool:
    """Whether it is an ELF file whose own functions have symbols beside those for the loader."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
        return False
    if read_elf_head(str(path)) is None:
        return False
    shown = subprocess.run(["nm", str(path)], capture_output=True, text=True, check=False).stdout
    return sum(line[17:19] in ("t ", "T ") for line in shown.splitlines()) >= LEAST
