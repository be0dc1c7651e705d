"""The system calls that Docker's default profile refuses, as a filter of the kernel.

The profile lets through what it lists; this filter refuses what the profile leaves out for a
container without more capabilities than `unprivileged` grants: all of it on x86-64 and i386.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Mapping

from places.mounts import called

EPERM, ENOSYS = 1, 38
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
ALLOW, REFUSE = 0x7FFF0000, 0x00050000

# Offsets of `struct seccomp_data`; of an argument its lower half.
NUMBER, MACHINE, ARGUMENT = 0, 4, 16
LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
X32 = 0x40000000
AUDIT_X86_64, AUDIT_I386 = 0xC000003E, 0x40000003

NAMESPACES = 0x7E020000
"""The flags of clone(2) that make namespaces."""
PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)
"""What the profile lets pass; that without randomized addresses (0x40000) is none of them."""

Table = Mapping[str, tuple[int, int]]

REFUSED: Table = {  # on x86-64, on i386; -1: there is none
    "acct": (163, 51), "add_key": (248, 286), "bpf": (321, 357), "clock_adjtime": (305, 343),
    "clock_adjtime64": (-1, 405), "clock_settime": (227, 264), "clock_settime64": (-1, 404),
    "create_module": (174, 127), "delete_module": (176, 129), "fanotify_init": (300, 338),
    "finit_module": (313, 350), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fsopen": (430, 430), "fspick": (433, 433), "get_kernel_syms": (177, 130),
    "get_mempolicy": (239, 275), "init_module": (175, 128), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "io_uring_setup": (425, 425), "ioperm": (173, 101),
    "iopl": (172, 110), "kcmp": (312, 349), "kexec_file_load": (320, -1),
    "kexec_load": (246, 283), "keyctl": (250, 288), "lookup_dcookie": (212, 253),
    "mbind": (237, 274), "migrate_pages": (256, 294), "mount": (165, 21),
    "mount_setattr": (442, 442), "move_mount": (429, 429), "move_pages": (279, 317),
    "nfsservctl": (180, 169), "open_by_handle_at": (304, 342), "open_tree": (428, 428),
    "perf_event_open": (298, 336), "pidfd_getfd": (438, 438), "pivot_root": (155, 217),
    "process_madvise": (440, 440), "query_module": (178, 167), "quotactl": (179, 131),
    "quotactl_fd": (443, 443), "reboot": (169, 88), "request_key": (249, 287),
    "set_mempolicy": (238, 276), "set_mempolicy_home_node": (450, 450),
    "setdomainname": (171, 121), "sethostname": (170, 74), "setns": (308, 346),
    "settimeofday": (164, 79), "stime": (-1, 25), "swapoff": (168, 115), "swapon": (167, 87),
    "syslog": (103, 103), "_sysctl": (156, 149), "sysfs": (139, 135), "umount": (-1, 22),
    "umount2": (166, 52), "unshare": (272, 310), "uselib": (134, 86),
    "userfaultfd": (323, 374), "ustat": (136, 62), "vhangup": (153, 111), "vm86": (-1, 166),
    "vm86old": (-1, 113),
}  # fmt: skip
CLONE, CLONE3, PERSONALITY = (56, 120), (435, 435), (135, 136)
PTRACE, ATTACH, SEIZE = (101, 26), 16, 0x4206


def _statement(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("<HBBI", code, then, otherwise, value)


def _refuse(error: int) -> bytes:
    return _statement(RETURN, REFUSE | error)


def _no_attaching(index: int) -> bytes:
    made = _statement(EQUAL, PTRACE[index], 0, 5) + _statement(LOAD, ARGUMENT)
    made += _statement(EQUAL, ATTACH, 1, 0) + _statement(EQUAL, SEIZE, 0, 1)
    return made + _refuse(EPERM) + _statement(RETURN, ALLOW)


def _for_machine(index: int, attaching: bool) -> bytes:
    """The number of the call is loaded; ends in an answer."""
    made = b"" if attaching else _no_attaching(index)
    for numbers in REFUSED.values():
        if numbers[index] >= 0:
            made += _statement(EQUAL, numbers[index], 0, 1) + _refuse(EPERM)
    made += _statement(EQUAL, CLONE3[index], 0, 1) + _refuse(ENOSYS)
    made += _statement(EQUAL, CLONE[index], 0, 4) + _statement(LOAD, ARGUMENT)
    made += _statement(ANY_BIT, NAMESPACES, 0, 1) + _refuse(EPERM) + _statement(RETURN, ALLOW)
    made += _statement(EQUAL, PERSONALITY[index], 0, 3 + len(PERSONALITIES) - 1)
    made += _statement(LOAD, ARGUMENT)
    for at, allowed in enumerate(PERSONALITIES):
        made += _statement(EQUAL, allowed, len(PERSONALITIES) - at, 0)
    return made + _refuse(EPERM) + _statement(RETURN, ALLOW)


def program(attaching: bool = True) -> bytes:
    """The filter; what is of another machine passes."""
    wide, narrow = _for_machine(0, attaching), _for_machine(1, attaching)
    number = _statement(LOAD, NUMBER)
    made = _statement(LOAD, MACHINE) + _statement(EQUAL, AUDIT_I386, 0, 1 + len(narrow) // 8)
    made += number + narrow
    made += _statement(EQUAL, AUDIT_X86_64, 1, 0) + _statement(RETURN, ALLOW)
    return made + number + _statement(AND, X32 - 1) + wide


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def install(attaching: bool = True) -> None:
    """For this process and all that it starts, for good; it may administer the system now."""
    made = program(attaching)
    given = _Program(len(made) // 8, made)
    called("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(given), 0, 0)
