"""Made of commands.json by `python3 scripts/commands`: change that file, and make this anew."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

# fmt: off
PAST_MAIN = (True, 'past-main', '', '', '', '', False, False, False, '', False, (), 'also the frames that called main')
WITHOUT = (True, 'without', '', 'LIST', 'strategies', '', False, False, '', '', False, (), 'strategies not to use, such as cfi,frame-pointer')
FILE = (False, 'file', '', 'FILE', 'file', '?', False, False, None, '', False, (), '')

GDB: dict[str, Any] = {
'bt': ('whocall bt', 'Print the true backtrace of the selected thread.', True, True, (
  (True, 'all', '', '', '', '', False, False, False, 'threads', False, (), 'every thread, identical stacks folded into one'),
  (True, 'explain', '', '', '', '', False, False, False, '', False, (), 'one sentence a frame on how it was found'),
  (True, 'full', '', '', '', '', False, False, False, '', False, (), 'registers, CFA and stack words of each frame'),
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.backtrace/2'),
  (True, 'no-arguments', '', '', '', '', False, False, False, '', False, (), 'not what the functions were handed'),
  (True, 'no-fold', '', '', '', '', False, False, False, '', False, (), 'every frame, also those of an endless recursion'),
  PAST_MAIN, WITHOUT,
 ), ('The word in brackets says how each frame was found, best first: context, cfi,', 'analysis, frame-pointer, scan. sub_ADDRESS is a function of which only the start is', 'known, at that link address.', '', 'With COUNT print only the innermost COUNT frames, with -COUNT the outermost. Frames', 'that called main are left out where a symbol tells which function is main; stripped', 'programs show them, as do -past-main and "set backtrace past-main on". LIST names', 'strategies, separated by commas; TAB lists them.', '', 'Of a recursion without end the first cycle of functions and the last frames are', 'shown; -no-fold, or "set whocall fold off", shows every frame. Where frames stand', 'above one of trust scan, a last line counts them: they are no surer than that one.', '', 'In parentheses stand the arguments that the function was handed, as far as they are', 'known: "?" is one that is not, and behind a value that memory holds now, and that may', 'have changed since, stands a "?". gdb\'s "set print frame-arguments" and "set print', 'elements" are obeyed; -no-arguments leaves them out.', '', '-explain, -full and -no-fold change the text form alone, and in JSON nothing is', 'folded. For programs that speak GDB/MI the command -whocall-backtrace answers what', '-json prints.'), ('whocall bt -all', 'whocall bt -full -without scan 5')),
'caller': ('whocall', 'Tell who called the selected frame, or use a subcommand for more.', False, True, (), ('whocall finds the true backtrace of stripped programs: those without symbols and', "unwind tables. Alone it prints one line: the selected frame's function, who called", 'it, from where, and how sure that is. Trust, best first: context, cfi, analysis,', 'frame-pointer, scan.', '', '"layout whocall" shows the stack itself, word by word, in the text user', 'interface; after "focus whocall" the arrow and page keys scroll it.'), ('whocall',)),
'frame': ('whocall frame', "Select a frame by its number in whocall's backtrace.", False, True, (
  (False, 'level', '', 'N', 'limit', '', False, False, None, '', False, (), ''),
 ), ("gdb's own number of the frame may be another one, which is told then. Where gdb has no", 'such frame, its stack of this thread is repaired first, as by "whocall repair", and that', 'is told, too. From then on "info registers", "up", "x" and "disassemble" work on it.'), ('whocall frame 3',)),
'why': ('whocall why', 'Tell in a sentence what happened, and what shows it.', False, True, (
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.why/1'),
 ), ('Of a core it is the thread that crashed, of a live program the selected one. A cause', "is told where registers, memory and the kernel's own words prove it."), ('whocall why',)),
'waits': ('whocall waits', 'Tell what each thread waits for, who has it, and deadlocks.', False, True, (
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.waits/1'),
 ), ('Locks are told by their addresses, with their owners where the C library keeps them:', "glibc's mutexes and writers of reader-writer locks, musl's mutexes but for the plain", "ones. Neither symbols nor libpthread's debug information are needed. A deadlock is", 'a ring of threads that wait for each other without a limit in time.'), ('whocall waits', 'whocall waits -json')),
'compare': ('whocall compare', "Print whocall's frames beside those of gdb's own backtrace.", False, True, (
  (True, 'all', '', '', '', '', False, False, False, 'threads', False, (), 'every thread'),
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.compare/1 or whocall.shadow/1'),
  (True, 'shadow', '', '', '', '', False, False, False, '', False, (), "not gdb's frames but the shadow stack of a traced program"),
 ), ('Each line has a verdict. Where both have the frame:', '  same      and they agree on its function, or only gdb has a name', '  unnamed   and neither has a name', '  named     and only whocall has a name', '  renamed   and their names are those of different functions', 'Where one of the two has it:', '  missing in gdb', "  false in gdb     whocall's frames around it follow from each other, or no", '                   code can lie at its address', '  unproven         whocall may have passed over it: its own next frame was', '                   found by a search of the stack (scan) or by the frame', '                   pointer', '  beyond whocall   whocall found no more callers', '  not on stack     an inlined call or a tail call, which debug information', '                   alone tells of: it counts for neither', '', "Below stands why gdb went wrong where the two first part, and the counts: whocall's", 'frames are same + unnamed + named + renamed + missing. Both chains are shown past', 'main.', '', 'With -shadow the other side is the shadow stack that a traced program keeps of', 'itself; see "help whocall trace".'), ('whocall compare -all',)),
'functions': ('whocall functions', 'List functions by address: start, end, source, name.', False, False, (
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.functions/1'),
  (True, 'module', '', 'MODULE', 'module', '', False, False, '', '', False, (), 'only the module whose path ends so'),
  (False, 'regex', '', 'REGEX', 'function', '?', False, False, None, '', False, (), ''),
 ), ("With REGEX list only functions whose names it matches (Python's syntax).", "MODULE is the module's path or the last parts of it, such as libc.so.6."), ('whocall functions -module libc.so.6 ^qsort',)),
'symbol': ('whocall symbol', 'Print what stands at addresses: function, module, source line.', False, False, (
  (False, 'expressions', '', 'EXPR', 'expression', '+', False, False, None, '', False, (), ''),
 ), ('EXPR is any expression, such as $pc or 0x401136, or the name of a function as', 'backtraces have it. Quote an expression with blanks: "a + 1".'), ('whocall symbol $pc 0x401136',)),
'modules': ('whocall modules', 'List the loaded files, and whether they are the right ones.', False, True, (
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.modules/1'),
 ), ('A line for each file: its addresses; found, missing, MISMATCH (the file there is of', 'another build than the one in memory, by their build ids, and is not used) or in', 'memory (no file, but its image was dumped); the share of its code that unwind tables', 'cover; its named functions by the source of the names; its path, and the debug file', 'that lends it names. Below a file that lacks something stands what to do about it.', '', 'Files are looked for below "sysroot", at their own paths, in "whocall search-path"', 'and "solib-search-path" by name and by build id, in "debug-file-directory" by build', 'id, and last by debuginfod ("set whocall debuginfod"). This command fetches no debug', 'info that no backtrace has asked for.'), ('whocall modules',)),
'audit': ('whocall audit', 'Tell how far the analysis of code can be trusted.', False, False, (
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.audit/1'),
  (True, 'limit', '', 'N', 'limit', '', False, False, None, '', False, (), 'at most N differences in full (default: 5)'),
  FILE,
 ), ("Wherever the file's own unwind tables cover an instruction, what whocall finds", "without them is held against them: the frame's address (CFA), the return address and", 'the saved registers. Each difference has a class that says where it comes from.', '', 'FILE is any ELF file with unwind tables. Without it, the module that the selected', 'frame is in is audited, or, before the program runs, the program.'), ('whocall audit -limit 20',)),
'signatures': ('whocall signatures', 'Make a file of signatures of libraries and programs.', False, False, (
  (True, 'output', 'o', 'FILE', 'file', '', False, True, None, '', False, (), 'the new file; - for standard output'),
  (False, 'archives', '', 'BINARY', 'file', '+', False, False, None, '', False, (), ''),
 ), ('With "set whocall signature-files FILE" whocall recognises the functions of static', 'libraries (.a, .o) in stripped programs that were linked with them, and those of a', 'program or a shared library that has names, or whose debug file lies beside it, in', 'the same and the next stripped build of it. Static libraries that are linked together,', 'such as libc.a, libm.a and libgcc_eh.a, belong into one file.'), ('whocall signatures libc.a libm.a -output libc.sig', 'whocall signatures shop-1.0 -output shop.sig')),
'export': ('whocall export', 'Save names and unwinding rules for gdbs without whocall.', False, False, (
  (True, 'module', '', 'MODULE', 'module', '', False, False, '', '', False, (), 'of the module whose path ends so, not of the program'),
  (False, 'file', '', 'FILE', 'file', '', False, False, None, '', False, (), ''),
 ), ('FILE becomes what "whocall repair" gives to gdb, with the rules of all functions.', 'Without -module it is that of the program.', "MODULE is the module's path or the last parts of it, such as libc.so.6."), ('whocall export -module libc.so.6 libc.debug',)),
'repair': ('whocall repair', "Make gdb's own commands right: backtrace, up, finish, break.", False, False, (
  (True, 'all', '', '', '', '', False, False, False, '', False, (), 'all loaded files, not only those in which frames lie'),
  (False, 'modules', '', 'MODULE', 'module', '*', False, False, (), '', False, (), ''),
 ), ('gdb is given the names of functions and the unwinding rules that whocall finds, for', 'the files in which frames of any thread lie, and for each MODULE. From then on this', "is kept up whenever the program stops. Before a program runs it is for the program's", 'file, or for each MODULE. "whocall revert" takes it back.', "MODULE is the module's path or the last parts of it, such as libc.so.6."), ('whocall repair libc.so.6',)),
'revert': ('whocall revert', 'Take back what "whocall repair" told gdb.', False, False, (), ('gdb reads the files concerned anew. Breakpoints stay; those at names that only', 'whocall knows, such as sub_1139, are pending until gdb knows the names again.'), ('whocall revert',)),
'doctor': ('whocall doctor', 'Report versions, what is missing, and what fixes it.', False, False, (
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.doctor/1'),
 ), (), ('whocall doctor', 'whocall doctor -json')),
'open': ('whocall open', 'Load a crash that gdb itself cannot read.', False, False, (
  (True, 'crash', '', 'WHICH', '', '', False, False, None, '', False, (), 'the newest with this pid, unit, executable or process name'),
  (True, 'last', '', '', '', '', False, False, False, '', False, (), 'the newest crash that systemd-coredump keeps'),
  FILE,
  (False, 'exe', '', 'EXE', 'file', '?', False, False, None, '', False, (), ''),
 ), ('FILE is a core packed by zstd, xz, gzip, lz4 or bzip2, a minidump, a crash report of', 'apport, a problem directory of ABRT, or a plain core. gdb gets a core, the program', "(EXE, or the file with the right build id) and the symbols of the modules' files."), ('whocall open core.4711.zst', 'whocall open -last')),
'report': ('whocall report', 'Write a page on the crash, or on the program where it stands.', False, True, (
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'the data of the page, schema whocall.report/1'),
  (True, 'no-gdb', '', '', '', '', False, False, False, '', False, (), "without gdb's own backtrace beside whocall's"),
  (True, 'output', 'o', 'FILE', 'file', '', False, False, None, '', False, (), 'the page, such as crash.html; - for standard output'),
  (True, 'title', '', 'TEXT', '', '', False, False, '', '', False, (), 'of the page'),
  WITHOUT,
 ), ('The page needs nothing else: what happened, the stacks of all threads and how surely', "each frame is known, the stack's words, code, registers, and the modules. It shows", 'the thread that crashed first, of a live program the selected one. FILE is the new', 'page; with -json and without FILE its data are printed.'), ('whocall report -output crash.html',)),
'trace': ('whocall trace', 'Print the calls that a traced program recorded.', False, False, (
  (True, 'callers', '', '', '', '', False, False, False, 'form', False, (), 'each function under its callers and above its callees, with counts and times'),
  (True, 'depth', '', 'N', 'limit', '', False, False, None, '', False, (), 'no calls deeper than N; the outermost have 0'),
  (True, 'folded', '', '', '', '', False, False, False, 'form', False, (), 'a line for each stack with its time in nanoseconds, for flame graphs'),
  (True, 'function', '', 'REGEX', '', '', False, False, '', '', False, (), 'calls of the functions alone whose names match'),
  (True, 'json', '', '', '', '', False, False, False, 'form', False, (), 'the Trace Event Format, for Perfetto and chrome://tracing'),
  (True, 'last', '', 'N', 'limit', '', False, False, None, '', False, (), 'only the last N lines of the tree'),
  (True, 'longer', '', 'TIME', '', '', False, False, '', '', False, (), 'calls that took TIME (500ns, 10us, 5ms, 1s) or longer'),
  (True, 'module', '', 'MODULE', 'module', '', False, False, '', '', False, (), 'functions of the module whose path ends so'),
  (True, 'only', '', 'REGEX', '', '', False, False, '', '', False, (), 'the functions whose names match, and what they call'),
  (True, 'output', 'o', 'FILE', 'file', '', False, False, None, '', False, (), 'write to FILE; - for standard output'),
  (True, 'profile', '', '', '', '', False, False, False, 'form', False, (), 'counts and times of each function'),
  (True, 'size', '', 'BYTES', 'limit', '', False, False, None, '', False, (), 'calls of functions with BYTES of code or more'),
  (True, 'stacks', '', '', '', '', False, False, False, 'form', False, (), 'the shadow stacks: what each thread is in now'),
  (True, 'svg', '', '', '', '', False, False, False, 'form', False, (), 'a flame graph'),
  (True, 'thread', '', 'LWP', 'integer', '', False, False, (), '', False, (), "only the thread with this id of the kernel's"),
  FILE,
 ), ('The program has to be compiled with -finstrument-functions and linked with', 'libwhocall-trace: then each thread keeps its latest calls and returns in memory.', 'Without an option they are printed as an indented tree of calls in the order of', 'their times: seconds, thread, duration, function, and who called it from where.', 'FILE is what the environment variable WHOCALL_TRACE_FILE named; without it the', 'trace is that of the program or core that gdb debugs.'), ('whocall trace -profile', 'whocall trace -svg -output calls.svg')),
}
MACHINE_INTERFACE: dict[str, Any] = {
'bt': ('-whocall-backtrace', '', True, False, (
  (True, 'all-threads', '', '', '', '', False, False, False, '', False, (), 'every thread'),
  PAST_MAIN, WITHOUT,
 ), (), ()),
}
