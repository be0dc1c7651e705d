"""The parser of gdb's printed backtraces, on literal input."""

from oracles import bt_text

OPENED = "#0  0x00007f01 in read () from /lib/libc.so.6\n"
ONE = """\
#0  0x00007f01 in read () from /lib/libc.so.6
#1  0x00000000004011a0 in ?? ()
#2  <signal handler called>
#3  std::function<void (int)>::operator() (this=...) at t.cc:4
#4  0x0000000000401200 in operator<< (out=...)
#5  0x0000000000401210 in main ()
"""


def test_a_plain_bt_after_the_line_shown_on_opening() -> None:
    (lines,) = bt_text.parse(OPENED + ONE).values()
    assert [line.level for line in lines] == [0, 1, 2, 3, 4, 5]
    assert [line.pc for line in lines] == [0x7F01, 0x4011A0, None, None, 0x401200, 0x401210]
    assert [line.signal for line in lines] == [False, False, True, False, False, False]


def test_names() -> None:
    (lines,) = bt_text.parse(ONE).values()
    assert [line.name for line in lines] == [
        "read",
        None,
        None,
        "std::function<void (int)>::operator()",
        "operator<<",
        "main",
    ]


def test_threads_by_their_process_ids() -> None:
    text = f"{OPENED}\nThread 2 (LWP 71):\n{ONE}\nThread 1 (Thread 0x7ffff7d8f740 (LWP 70)):\n{ONE}"
    threads = bt_text.parse(text)
    assert list(threads) == [71, 70]
    assert all(len(lines) == 6 for lines in threads.values())
