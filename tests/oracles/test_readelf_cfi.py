"""The parsers of readelf's unwind tables, on literal text that shows each quirk once."""

from oracles import readelf_cfi, readelf_raw
from oracles.readelf_cfi import Row

X86_64 = """\
Contents of the .eh_frame section:


00000000 0000000000000014 00000000 CIE "zR" cf=1 df=-8 ra=16
   LOC           CFA      ra    
0000000000000000 rsp+8    c-8   

00000018 0000000000000040 0000001c FDE cie=00000000 pc=0000000000401000..000000000040100b
   LOC           CFA      rbx   rbp   r12   r13   ra    
0000000000401000 rsp+8    u     u     u     u     c-8   
0000000000401001 rsp+16   u     u     u     u     c-8   
0000000000401001 rsp+16   u     u     u     u     c-16  
0000000000401002 rsp+16   u     u     u     u     c-16  
0000000000401003 exp      c-24  vexp  exp   u     c-16  
0000000000401005 rsp+16   v-8   s     u     r14 (r14) c-16  
0000000000401006 rsp+16   v-8   s     u     r14 (r14) u     

0000005c 0000000000000010 00000060 FDE cie=00000000 pc=000000000040100b..000000000040100c

00000070 0000000000000014 00000000 CIE "zRS" cf=1 df=-8 ra=16
   LOC           CFA      ra    
0000000000000000 rsp+8    c-8   

00000088 0000000000000010 0000001c FDE cie=00000070 pc=000000000040100c..000000000040100c

0000009c ZERO terminator


Contents of the .debug_frame section:


00000000 0000000000000014 ffffffff CIE "" cf=1 df=-8 ra=16
   LOC           CFA      ra    
0000000000000000 rsp+8    c-8   

00000018 0000000000000014 00000000 FDE cie=00000000 pc=0000000000402000..0000000000402010
   LOC           CFA      ra    
0000000000402000 rsp+8    c-8   
0000000000402004 rsp+16   c-8   
"""  # noqa: W291

I386 = """\
Contents of the .eh_frame section:


00000000 00000014 00000000 CIE "zR" cf=1 df=-4 ra=8
   LOC   CFA      ra    
00000000 esp+4    c-4   

0000003c 00000028 00000040 FDE cie=00000000 pc=08049032..08049062
   LOC   CFA      ebp   ra    
08049032 esp+4    u     c-4   
08049036 ecx+0    u     c-4   
08049040 exp      exp   c-4   
08049061 esp+4    u     c-4   
"""  # noqa: W291

RAW = """\
Contents of the .eh_frame section:


00000000 0000000000000014 00000000 CIE
  Augmentation:          "zR"
  DW_CFA_def_cfa: r7 (rsp) ofs 8
  DW_CFA_offset: r16 (rip) at cfa-8
  DW_CFA_nop

00000018 0000000000000040 0000001c FDE cie=00000000 pc=0000000000401000..000000000040100b
  DW_CFA_advance_loc: 1 to 0000000000401001
  DW_CFA_remember_state
  DW_CFA_def_cfa_expression (DW_OP_breg7 (rsp): 8; DW_OP_deref)
  DW_CFA_expression: r12 (r12) (DW_OP_breg7 (rsp): 16)
  DW_CFA_advance_loc: 1 to 0000000000401002
  DW_CFA_def_cfa: r7 (rsp) ofs 16
  DW_CFA_val_expression: r6 (rbp) (DW_OP_breg7 (rsp): 8)
  DW_CFA_advance_loc: 1 to 0000000000401003
  DW_CFA_restore: r12 (r12)
  DW_CFA_advance_loc: 1 to 0000000000401004
  DW_CFA_restore_state
  DW_CFA_nop

"""


def _x86_64() -> list[readelf_cfi.Fde]:
    return list(readelf_cfi.parse(X86_64.splitlines(keepends=True)))


def test_ranges_sections_and_offsets() -> None:
    assert [(fde.section, fde.offset, fde.pc_begin, fde.pc_end) for fde in _x86_64()] == [
        (".eh_frame", 0x18, 0x401000, 0x40100B),
        (".eh_frame", 0x5C, 0x40100B, 0x40100C),
        (".eh_frame", 0x88, 0x40100C, 0x40100C),
        (".debug_frame", 0x18, 0x402000, 0x402010),
    ]


def test_all_column_forms() -> None:
    rows = _x86_64()[0].rows
    assert rows[0] == Row(0x401000, "rsp+8", {"ra": "c-8"})
    assert rows[4] == Row(
        0x401003, "exp", {"rbx": "c-24", "rbp": "vexp", "r12": "exp", "ra": "c-16"}
    )
    assert rows[5].rules == {"rbx": "v-8", "rbp": "s", "r13": "r14", "ra": "c-16"}
    assert rows[6].rules["ra"] == "u"


def test_repeated_rows_and_advances_of_zero_are_merged() -> None:
    merged = readelf_cfi.merged(_x86_64()[0].rows)
    assert [row.loc for row in merged] == [0x401000, 0x401001, 0x401003, 0x401005, 0x401006]
    assert merged[1].rules == {"ra": "c-16"}


def test_an_fde_without_rows_has_its_cies() -> None:
    assert _x86_64()[1].rows == (Row(0x40100B, "rsp+8", {"ra": "c-8"}),)


def test_the_row_of_a_pc() -> None:
    first, _, empty, last = _x86_64()
    assert first.row_at(0x401001) == first.rows[2]
    assert first.row_at(0x401004) == first.rows[4]
    assert first.row_at(0x40100B) is None
    assert empty.row_at(0x40100C) is None
    assert last.row_at(0x40200F) == last.rows[1]


def test_signal_frames() -> None:
    assert [fde.cie.signal_frame for fde in _x86_64()] == [False, False, True, False]


def test_i386() -> None:
    (fde,) = readelf_cfi.parse(I386.splitlines())
    assert fde.cie.return_column == 8
    assert [row.cfa for row in fde.rows] == ["esp+4", "ecx+0", "exp", "esp+4"]
    assert fde.rows[2].rules == {"ebp": "exp", "ra": "c-4"}


def test_expressions_are_followed_through_the_instructions() -> None:
    found = [(loc, state) for _, _, loc, state in readelf_raw.parse(RAW.splitlines())]
    saved, kept = "DW_OP_breg7 (rsp): 16", "DW_OP_breg7 (rsp): 8"
    assert found == [
        (0x401000, {}),
        (0x401001, {"cfa": "DW_OP_breg7 (rsp): 8; DW_OP_deref", "r12": saved}),
        (0x401002, {"r12": saved, "rbp": kept}),
        (0x401003, {"rbp": kept}),
        (0x401004, {}),
    ]


TERMINATED = """\
Contents of the .eh_frame section:


00000000 0000000000000014 00000000 CIE "" cf=1 df=-8 ra=16
00000018 0000000000000018 0000001c FDE cie=00000000 pc=0000000000401000..0000000000401001
   LOC           CFA      \n0000000000401000 rsp+16   \n
00000034 0000000000000010 00000038 FDE cie=00000000 pc=0000000000402000..0000000000402001
   LOC           CFA      ra    \n00000048 ZERO terminator
"""


def test_rows_without_registers() -> None:
    simple, _ = readelf_cfi.parse(TERMINATED.splitlines())
    assert simple.rows == (Row(0x401000, "rsp+16", {}),)


def test_a_terminator_is_no_row() -> None:
    _, last = readelf_cfi.parse(TERMINATED.splitlines())
    assert last.rows == ()
