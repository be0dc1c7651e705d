"""The parser of lldb's text, on literal input: which thread is which, and which frames count."""

from oracles import lldb_bt

TEXT = """\
(lldb) thread list
Process 100 stopped
* thread #1: tid = 102, 0x00000000004013fc prog`f + 748, name = 'prog', stop reason = signal SIGSEGV
  thread #2: tid = 100, 0x00007f9e3a4ba2ec libc.so.6`read at read.c:26:10, stop reason = signal 0
(lldb) thread backtrace all
* thread #1, name = 'prog', stop reason = signal SIGSEGV
  * frame #0: 0x00000000004013fc prog`f + 748
    frame #1: 0x0000000000401500 prog`outer [inlined] inner(x=1) at f.c:3:4
    frame #2: 0x0000000000401500 prog`outer at f.c:9:1
  thread #2, stop reason = signal 0
    frame #0: 0x00007f9e3a4ba2ec libc.so.6`read at read.c:26:10
    frame #1: 0x00007f9e3a4ba2d2
"""


def test_threads_are_known_by_their_ids() -> None:
    assert list(lldb_bt.parse(TEXT)) == [102, 100]


def test_inlined_frames_are_left_out() -> None:
    assert lldb_bt.parse(TEXT)[102] == [0x4013FC, 0x401500]
    assert lldb_bt.parse(TEXT)[100] == [0x7F9E3A4BA2EC, 0x7F9E3A4BA2D2]


def test_no_threads_where_nothing_was_read() -> None:
    assert lldb_bt.parse("error: Unable to find process plug-in for core file '/x'\n") == {}
