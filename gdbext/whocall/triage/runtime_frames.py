"""Which frames say nothing about a bug: those of C libraries, signals, aborts and allocators.

Of a run of such frames only the outermost stands for it: what the program called, `free` or
`strlen`, tells bugs apart, and how the library goes on from there differs from release to release.
"""

from __future__ import annotations

import re

# Base names of files whose functions are runtime.
_MODULES = re.compile(
    r"(ld-linux|ld-musl|ld64|ld\.so|libc[.-]|libpthread|librt[.-]|libdl[.-]|libm[.-]|libgcc_s"
    r"|libstdc\+\+|libc\+\+|libunwind|libasan|libubsan|libtsan|\[vdso\]|linux-vdso|libjemalloc"
    r"|libtcmalloc|libmimalloc)"
)
# Functions that are runtime wherever they were linked into.
_FUNCTIONS = re.compile(
    r"(_start|__libc_start\w*|libc_start\w*|start_thread|clone3?|__clone3?|_dl_\w+|__restore_rt"
    r"|raise|gsignal|abort|__abort|__assert\w*|__GI_\w+|pthread_kill|__pthread_kill\w*|tgkill"
    r"|__stack_chk_fail\w*|__fortify_fail\w*|__chk_fail|\w+_chk|__libc_message|malloc_printerr"
    r"|_?_?(int_)?(malloc|free|calloc|realloc|cfree|memalign)|unlink_chunk|tcache_\w+"
    r"|operator (new|delete)(\[\])?|__cxa_\w+|_Unwind_\w+|__gxx_personality\w*"
    r"|std::(terminate|unexpected|__throw_\w+)|__cxxabiv1::\w+"
    r"|__gnu_cxx::__verbose_terminate_handler"
    r"|(__rustc::)?(rust_panic\w*|rust_begin_unwind|__rust_\w+)|(core|std)::panicking::.+"
    r"|std::process::abort|std::sys::.*abort_internal|panic_abort::.+"
    r"|std::sys(_common)?::backtrace::__rust_end_short_backtrace\b.*"
    r"|runtime\.(gopanic|sigpanic|panic\w+|raise|dieFromSignal|crash|fatal\w*|throw|goexit))"
)
# Variants of one function: __strlen_avx2, __memmove_evex_unaligned_erms, __GI___libc_free.
_DECORATION = re.compile(
    r"_(sse2|sse4_[12]|sse42|ssse3|avx2?|avx512\w*|evex\w*|erms|rtm|unaligned\w*|no_vzeroupper|bmi2"
    r"|generic|neon|mte|sve|a64fx|zva64|falkor|thunderx2?|kunpeng\w*)+$"
)
_PREFIX = re.compile(r"^(__GI_|__libc_(?=malloc|free|calloc|realloc|memalign)|__isoc(99|23)_)+")
_CLONE = re.compile(
    r"(\.(part|constprop|isra|cold|lto_priv|llvm|localalias|ipa_ra|resolver)(\.\d+)*)+$"
)
_STD_ABI = re.compile(r"\[abi:\w+\]|__cxx11::")


def base_name(module: str | None) -> str:
    """The file's name without its version: libfoo.so for /usr/lib/libfoo.so.1.2."""
    if not module:
        return ""
    name = module.rpartition("/")[2]
    return re.sub(r"\.so(\.\d+)+$", ".so", name)


def is_runtime(module: str | None, function: str | None) -> bool:
    """Whether a frame there is the runtime's."""
    if module and _MODULES.match(module.rpartition("/")[2]):
        return True
    return function is not None and _FUNCTIONS.fullmatch(plain_name(function)) is not None


def plain_name(function: str) -> str:
    """A name without what compilers and libraries add to it, and without parameters."""
    name = _CLONE.sub("", _STD_ABI.sub("", function))
    name = _without_parameters(name)
    bare = _PREFIX.sub("", name)
    shorter = _DECORATION.sub("", bare)
    if shorter != bare or bare != name:
        name = shorter.lstrip("_") or shorter
    return name.partition("@")[0]


def _without_parameters(name: str) -> str:
    """`f<int>` of `f<int>(char const*) const`; `operator()` keeps its brackets."""
    if not name.endswith((")", "const", "&")):
        return name
    depth, end = 0, name.rfind(")")
    for at in range(end, 0, -1):
        depth += (name[at] == ")") - (name[at] == "(")
        if depth == 0:
            head = name[:at]
            return name if not head or head.endswith("operator") else head
    return name
