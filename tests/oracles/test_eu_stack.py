"""The parser of eu-stack's text, on literal input: what it makes of activations and last frames."""

from oracles import eu_stack

SIGNAL = """\
PID 10 - core
TID 10:
#0  0x00007f0000000010     read - libc.so.6
#1  0x0000000000401050 - 1 - prog
#2  0x0000000000401060 - 1 handler - prog
#3  0x00007f0000000050     __restore_rt - libc.so.6
#4  0x0000000000401234     busy(int, char - 1) - prog
#5  0x0000000000401300 - 1 main - prog
#6  0x0000000000000000 - 1
TID 11:
#0  0x00007f0000000020     poll - libc.so.6
#1  0x0000000000401400 - 1
"""


def test_pcs_are_kept_as_printed_and_the_zero_frame_goes() -> None:
    threads = eu_stack.parse(SIGNAL)
    assert list(threads) == [10, 11]
    assert [frame.pc for frame in threads[10]][-2:] == [0x401234, 0x401300]
    assert [frame.pc for frame in threads[11]] == [0x7F0000000020, 0x401400]


def test_of_two_activations_in_the_middle_the_first_is_the_trampoline() -> None:
    frames = eu_stack.parse(SIGNAL)[10]
    assert [frame.level for frame in frames if frame.trampoline] == [3]
    assert [frame.level for frame in frames if frame.activation] == [0, 3, 4]


def test_names_and_modules_may_be_missing() -> None:
    frames = eu_stack.parse(SIGNAL)[10]
    assert (frames[0].name, frames[0].module) == ("read", "libc.so.6")
    assert (frames[1].name, frames[1].module) == (None, "prog")
    assert frames[4].name == "busy(int, char - 1)"
    assert eu_stack.parse(SIGNAL)[11][1].name is None
