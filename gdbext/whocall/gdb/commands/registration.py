"""The commands as gdb knows them: names, help texts, completion."""

from __future__ import annotations

from whocall.frontend import options
from whocall.gdb.commands.command_kinds import (
    Command,
    CompletingCommand,
    FileCommand,
    FunctionsCommand,
    ModulesCommand,
    Prefix,
    help_of,
)

_MODULE_NOTE = "MODULE is the module's path or the last parts of it, such as libc.so.6."


def register() -> None:
    """Adds all commands."""
    Prefix(
        "whocall",
        "caller",
        "Tell who called the selected frame, or use a subcommand for more.\n\n"
        "whocall finds the true backtrace of stripped programs: those without symbols and\n"
        "unwind tables. Alone it prints one line: the selected frame's function, who called\n"
        "it, from where, and how sure that is. Trust, best first: context, cfi, analysis,\n"
        "frame-pointer, scan.\n"
        "\n"
        '"layout whocall" shows the stack itself, word by word, in the text user\n'
        'interface; after "focus whocall" the arrow and page keys scroll it.',
    )
    CompletingCommand(
        "bt",
        "backtrace",
        options.BACKTRACE,
        help_of(
            "Print the true backtrace of the selected thread.",
            "whocall bt [OPTION]... [COUNT | -COUNT]",
            options.BACKTRACE,
            "The word in brackets says how each frame was found, best first: context, cfi,\n"
            "analysis, frame-pointer, scan. sub_ADDRESS is a function of which only the start is\n"
            "known, at that link address.\n"
            "\n"
            "With COUNT print only the innermost COUNT frames, with -COUNT the outermost. Frames\n"
            "that called main are left out where a symbol tells which function is main; stripped\n"
            'programs show them, as do -past-main and "set backtrace past-main on". LIST names\n'
            "strategies, separated by commas; TAB lists them.\n"
            "\n"
            "Of a recursion without end the first cycle of functions and the last frames are\n"
            'shown; -no-fold, or "set whocall fold off", shows every frame. Where frames stand\n'
            "above one of trust scan, a last line counts them: they are no surer than that one.\n"
            "\n"
            "-explain, -full and -no-fold change the text form alone, and in JSON nothing is\n"
            "folded. For programs that speak GDB/MI the command -whocall-backtrace answers what\n"
            "-json prints.",
        ),
    )
    CompletingCommand(
        "why",
        "why",
        options.WHY,
        help_of(
            "Tell in a sentence what happened, and what shows it.",
            "whocall why [OPTION]...",
            options.WHY,
            "Of a core it is the thread that crashed, of a live program the selected one. A cause\n"
            "is told where registers, memory and the kernel's own words prove it.",
        ),
    )
    CompletingCommand(
        "compare",
        "compare",
        options.COMPARE,
        help_of(
            "Print whocall's frames beside those of gdb's own backtrace.",
            "whocall compare [OPTION]...",
            options.COMPARE,
            f"{options.VERDICTS_EXPLAINED}\n"
            "\n"
            "Below stands why gdb went wrong where the two first part, and the counts: whocall's\n"
            "frames are same + unnamed + named + renamed + missing. Both chains are shown past\n"
            "main.\n"
            "\n"
            "With -shadow the other side is the shadow stack that a traced program keeps of\n"
            'itself; see "help whocall trace".',
        ),
    )
    FileCommand(
        "trace",
        "trace",
        options.TRACE,
        help_of(
            "Print the calls that a traced program recorded.",
            "whocall trace [OPTION]... [FILE]",
            options.TRACE,
            "The program has to be compiled with -finstrument-functions and linked with\n"
            "libwhocall-trace: then each thread keeps its latest calls and returns in memory.\n"
            "Without an option they are printed as an indented tree of calls in the order of\n"
            "their times: seconds, thread, duration, function, and who called it from where.\n"
            "FILE is what the environment variable WHOCALL_TRACE_FILE named; without it the\n"
            "trace is that of the program or core that gdb debugs.",
        ),
    )
    Command(
        "symbol",
        "symbol",
        None,
        help_of(
            "Print what stands at addresses: function, module, source line.",
            "whocall symbol EXPR...",
            None,
            'EXPR is any expression, such as $pc or 0x401136; quote one with blanks: "a + 1".',
        ),
    )
    FunctionsCommand(
        "functions",
        "functions",
        options.FUNCTIONS,
        help_of(
            "List functions by address: start, end, source of the name, name.",
            "whocall functions [OPTION]... [REGEX]",
            options.FUNCTIONS,
            f"With REGEX list only functions whose names it matches (Python's syntax).\n"
            f"{_MODULE_NOTE}",
        ),
    )
    CompletingCommand(
        "modules",
        "modules",
        options.MODULES,
        help_of(
            "List the loaded files, whether they are the right ones, and what they tell.",
            "whocall modules [OPTION]...",
            options.MODULES,
            "A line for each file: its addresses; found, missing, MISMATCH (the file there is of\n"
            "another build than the one in memory, by their build ids, and is not used) or in\n"
            "memory (no file, but its image was dumped); the share of its code that unwind tables\n"
            "cover; its named functions by the source of the names; its path, and the debug file\n"
            "that lends it names. Below a file that lacks something stands what to do about it.\n"
            "\n"
            'Files are looked for below "sysroot", at their own paths, in "whocall search-path"\n'
            'and "solib-search-path" by name and by build id, in "debug-file-directory" by build\n'
            'id, and last by debuginfod ("set whocall debuginfod"). This command fetches no debug\n'
            "info that no backtrace has asked for.",
        ),
    )
    FileCommand(
        "audit",
        "audit",
        options.AUDIT,
        help_of(
            "Tell how far the analysis of instructions can be trusted on a file.",
            "whocall audit [OPTION]... [FILE]",
            options.AUDIT,
            "Wherever the file's own unwind tables cover an instruction, what whocall finds\n"
            "without them is held against them: the frame's address (CFA), the return address and\n"
            "the saved registers. Each difference has a class that says where it comes from.\n"
            "\n"
            "FILE is any ELF file with unwind tables. Without it, the module that the selected\n"
            "frame is in is audited, or, before the program runs, the program.",
        ),
    )
    FileCommand(
        "signatures",
        "signatures",
        options.SIGNATURES,
        help_of(
            "Make a file of signatures of static libraries.",
            "whocall signatures ARCHIVE... -output FILE",
            options.SIGNATURES,
            'With "set whocall signature-files FILE" whocall recognises the functions of these\n'
            "libraries in stripped programs that were linked with them. Libraries that are linked\n"
            "together, such as libc.a, libm.a and libgcc_eh.a, belong into one file.",
        ),
    )
    ModulesCommand(
        "repair",
        "repair",
        options.REPAIR,
        help_of(
            "Make gdb's own commands right: backtrace, up, finish, break, disassemble.",
            "whocall repair [OPTION]... [MODULE]...",
            options.REPAIR,
            "gdb is given the names of functions and the unwinding rules that whocall finds, for\n"
            "the files in which frames of any thread lie, and for each MODULE. From then on this\n"
            "is kept up whenever the program stops. Before a program runs it is for the program's\n"
            'file, or for each MODULE. "whocall revert" takes it back.\n'
            f"{_MODULE_NOTE}",
        ),
    )
    CompletingCommand(
        "revert",
        "revert",
        options.REVERT,
        help_of(
            'Take back what "whocall repair" told gdb.',
            "whocall revert",
            options.REVERT,
            "gdb reads the files concerned anew. Breakpoints stay; those at names that only\n"
            "whocall knows, such as sub_1139, are pending until gdb knows the names again.",
        ),
    )
    FileCommand(
        "export",
        "export",
        options.EXPORT,
        help_of(
            "Save names and unwinding rules of a file for gdbs without whocall.",
            "whocall export [OPTION]... FILE",
            options.EXPORT,
            'FILE becomes what "whocall repair" gives to gdb, with the rules of all functions.\n'
            "Without -module it is that of the program.\n"
            f"{_MODULE_NOTE}",
        ),
    )
    FileCommand(
        "open",
        "open",
        options.OPEN,
        help_of(
            "Load a crash that gdb itself cannot read.",
            "whocall open [OPTION]... [FILE] [EXE]",
            options.OPEN,
            "FILE is a core packed by zstd, xz, gzip, lz4 or bzip2, a minidump, a crash report of\n"
            "apport, a problem directory of ABRT, or a plain core. gdb gets a core, the program\n"
            "(EXE, or the file with the right build id) and the symbols of the modules' files.",
        ),
    )
    CompletingCommand(
        "doctor",
        "doctor",
        options.DOCTOR,
        help_of(
            "Report versions, what is missing, and the command that fixes it.",
            "whocall doctor",
            options.DOCTOR,
        ),
    )
