"""The parsers of nm's and objdump's tables, on literal text."""

from oracles import nm_table, objdump_table

NM = """\
0000000000001000 T _init
0000000000001020 t local
0000000000001020 W weak
0000000000001030 i chosen
0000000000001040 t <impl core::fmt for x>::fmt
0000000000003000 D data
                 U absent
"""

OBJDUMP = """\
/lib/libc.so.6:     file format elf64-x86-64

DYNAMIC SYMBOL TABLE:
0000000000000000      DF *UND*\t0000000000000000 (GLIBC_2.3)  __tls_get_addr
000000000009c270 g   iD  .text\t0000000000000077  GLIBC_2.2.5 strcpy
0000000000089000  w   DF .text\t0000000000000010 (GLIBC_PRIVATE) __old
0000000000001000 g     F .init\t0000000000000000              .hidden _init
0000000000001020 l     F .text\t0000000000000020 name with spaces
0000000000001020 g     F .text\t0000000000000020 0x40 other
0000000000003000 l    d  .data\t0000000000000000 .data
"""


def test_nm_keeps_functions_only() -> None:
    assert [(symbol.address, symbol.type, symbol.name) for symbol in nm_table.parse(NM)] == [
        (0x1000, "T", "_init"),
        (0x1020, "t", "local"),
        (0x1020, "W", "weak"),
        (0x1030, "i", "chosen"),
        (0x1040, "t", "<impl core::fmt for x>::fmt"),
    ]


def test_objdump_names_behind_versions_and_visibility() -> None:
    assert [symbol.name for symbol in objdump_table.parse(OBJDUMP)] == [
        "__tls_get_addr",
        "strcpy",
        "__old",
        "_init",
        "name with spaces",
        "other",
        ".data",
    ]


def test_objdump_fields() -> None:
    symbols = objdump_table.parse(OBJDUMP)
    assert [symbol.is_function for symbol in symbols] == [
        False,
        True,
        True,
        True,
        True,
        True,
        False,
    ]
    assert (symbols[1].address, symbols[1].size, symbols[1].section) == (0x9C270, 0x77, ".text")
