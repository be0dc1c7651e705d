"""Made of commands.json by `python3 scripts/commands`: change that file, and make this anew."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

# fmt: off
CORE = (False, 'core', '', 'CORE', 'file', '?', False, False, None, '', False, (), 'the core file')
EXE = (False, 'exe', '', 'EXE', 'file', '?', False, False, '', '', False, (), "the program's file")
PID = (True, 'pid', '', 'N', 'integer', '', False, False, None, '', False, (), 'a running process instead of a core')
LAST = (True, 'last', '', '', '', '', False, False, False, '', False, (), 'the newest crash that systemd-coredump keeps')
CRASH = (True, 'crash', '', 'WHICH', '', '', False, False, '', '', False, (), 'the newest with this pid, unit, executable or process name')
STORE = (True, 'store', '', 'DIR', 'folder', '', False, False, '', '', False, (), 'its cores, when they lie elsewhere')
JOURNAL = (True, 'journal', '', 'DIR', 'folder', '', False, False, '', '', False, (), 'its journal, when it lies elsewhere')
SEARCH = (True, 'search', '', 'DIR', 'folder', '', True, False, (), '', False, (), 'look there for files that are missing or of another build; may be repeated')
SYSROOT = (True, 'sysroot', '', 'DIR', 'folder', '', False, False, '', '', False, (), 'copy of the root directory of the machine')
DEBUG_DIRECTORY = (True, 'debug-directory', '', 'DIR', 'folder', '', True, False, (), '', False, (), 'look there for separate debug files instead of in /usr/lib/debug; may be repeated')
SYMBOLS = (True, 'symbols', '', '[MODULE=]FILE[@BASE]', 'file', '', True, False, (), '', False, (), 'names from a linker map, nm, a Breakpad .sym file, or CSV or JSON; may be repeated')
SIGNATURES = (True, 'signatures', '', 'FILE', 'file', '', True, False, (), '', False, (), "recognise functions of libraries and of other builds by this file, ours or FLIRT's; may be repeated")
DEBUGINFOD = (True, 'debuginfod', '', '', '', '', False, False, False, '', False, (), 'ask the servers of DEBUGINFOD_URLS for missing files and debug info')
ANNOUNCE = (True, 'announce', '', '', '', '', False, False, False, '', True, (), '')
INFERIOR = (True, 'inferior', '', 'INFERIOR', '', '', False, False, '', '', True, (), '')
THREAD = (True, 'thread', '', 'LWP', 'integer', '', False, False, None, 'threads', False, (), "the thread with this id of the kernel's instead of the one that crashed")
WITHOUT = (True, 'without', '', 'LIST', 'strategies', '', False, False, '', '', False, (), 'strategies not to use, such as cfi,frame-pointer')
MAX_FRAMES = (True, 'max-frames', '', 'N', 'limit', '', False, False, None, '', False, (), 'look for no more frames of a thread')
COLOR = (True, 'color', '', 'WHEN', '', '', False, False, 'auto', '', False, ('auto', 'always', 'never'), 'auto (on terminals), always, never, or ROLE=CODES:... such as function=33:address=34')
NO_DEMANGLE = (True, 'no-demangle', '', '', '', '', False, False, False, '', False, (), 'names as they are in the file')
FILENAME_DISPLAY = (True, 'filename-display', '', 'HOW', 'choice', '', False, False, 'relative', '', False, ('relative', 'basename', 'absolute'), "as gdb's setting: relative (modules by base names), basename (sources too), absolute")
NO_ARGUMENTS = (True, 'no-arguments', '', '', '', '', False, False, False, '', False, (), 'not what the functions were handed')
CORE2 = (False, 'core', '', 'CORE', 'file', '', False, False, None, '', False, (), 'the core file')
WIDTH = (True, 'width', '', 'N', 'limit', '', False, False, None, '', False, (), 'lines that are longer are broken between words')
FILE = (False, 'file', '', 'FILE', 'file', '', False, False, None, '', False, (), '')
EXE2 = (True, 'exe', '', 'EXE', 'file', '', False, False, '', '', False, (), "the program's file, of a core")

PROGRAM: Any = ('true backtraces of stripped programs', 'True backtraces of stripped programs.', 'whocall COMMAND --help tells more about a command.', (
  (True, 'version', '', '', '', '', False, False, False, '', False, (), "show program's version number and exit"),
  (True, 'script-path', '', '', '', '', False, False, False, '', False, (), 'print the file to `source` in gdb'),
 ))
SHELL: dict[str, Any] = {
'bt': ('the backtrace of a core or a process', '', 'CORE may be packed (zstd, xz, gzip, lz4, bzip2), a minidump, a crash report of apport, a problem directory of ABRT, or - for standard input; with several, each is shown.', False, (
  CORE, EXE,
  (False, 'more', '', 'CORE', 'file', '*', False, False, (), '', False, (), 'more cores'),
  PID, LAST, CRASH, STORE, JOURNAL,
  (True, 'list', '', '', '', '', False, False, False, '', False, (), 'which crashes it keeps (with --crash: of those)'),
  SEARCH, SYSROOT, DEBUG_DIRECTORY, SYMBOLS, SIGNATURES, DEBUGINFOD, ANNOUNCE, INFERIOR,
  (True, 'all', '', '', '', '', False, False, False, 'threads', False, (), 'every thread, identical stacks folded into one'),
  THREAD, WITHOUT, MAX_FRAMES, COLOR, NO_DEMANGLE,
  (True, 'full', '', '', '', '', False, False, False, '', False, (), 'registers, CFA and stack words of each frame'),
  (True, 'explain', '', '', '', '', False, False, False, '', False, (), 'one sentence a frame on how it was found'),
  (True, 'no-fold', '', '', '', '', False, False, False, '', False, (), 'every frame, also those of an endless recursion'),
  (True, 'past-main', '', '', '', '', False, False, False, '', False, (), 'also the frames that called main'),
  (True, 'count', 'n', 'COUNT', 'count', '', False, False, None, '', False, (), 'only the innermost COUNT frames, or the outermost for -COUNT'),
  (True, 'width', '', 'N', 'limit', '', False, False, None, '', False, (), 'lines that are longer are shortened, or broken before the file'),
  FILENAME_DISPLAY, NO_ARGUMENTS,
  (True, 'frame-arguments', '', 'HOW', 'choice', '', False, False, 'values', '', False, ('values', 'presence', 'none'), "as gdb's setting: values, presence (whether there are some), none (dots for each)"),
  (True, 'characters', '', 'N', 'limit', '', False, False, None, '', False, (), 'of a text that an argument points to, at most (200)'),
  (True, 'no-addresses', '', '', '', '', False, False, False, '', True, (), ''),
  (True, 'no-places', '', '', '', '', False, False, False, '', True, (), ''),
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.backtrace/2'),
  (True, 'schema', '', 'N', 'choice', '', False, False, '2', '', False, ('1', '2'), 'of --json: 2, or 1, which has neither arguments nor what happened'),
  (True, 'format', '', 'NAME', '', '', False, False, None, '', False, ('speedscope', 'firefox', 'folded', 'flamegraph', 'sarif', 'markdown', 'mail'), "of all threads: speedscope, firefox (profiler), folded (stacks), flamegraph (SVG); of the crashed one, or with --all: sarif, markdown (GitHub's), mail (plain text)"),
 ), (('inputs', ('core', 'exe', 'more')), ('processes', (('with', ('pid',)),)), ('later', (('with', ('list', 'last', 'crash')),))), (), ('whocall bt core.4711 ./prog --all', 'whocall bt --pid 4711 --full')),
'caller': ('who called a frame of a core, in one line', '', '', False, (
  CORE2, EXE, SEARCH, SYSROOT, DEBUG_DIRECTORY, SYMBOLS, SIGNATURES, DEBUGINFOD, ANNOUNCE,
  THREAD, WITHOUT, MAX_FRAMES, COLOR, NO_DEMANGLE, WIDTH, FILENAME_DISPLAY,
  (True, 'frame', '', 'LEVEL', 'limit', '', False, False, 0, '', False, (), 'not the innermost but this one'),
  (True, 'pc', '', 'ADDR', '', '', False, False, None, '', False, (), "of the frame that gdb calls LEVEL: whocall's may be another"),
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.caller/1'),
 ), (('inputs', ('core', 'exe')),), (), ('whocall caller core.4711 ./prog --frame 2',)),
'why': ('what happened to a core or a process, in a sentence, and what shows it', "What happened to the thread that crashed, in a sentence, and what shows it. A cause is told where registers, memory and the kernel's own words prove it.", '', False, (
  CORE, EXE, PID, LAST, CRASH, STORE, JOURNAL, SEARCH, SYSROOT, DEBUG_DIRECTORY, SYMBOLS,
  SIGNATURES, DEBUGINFOD, ANNOUNCE, WITHOUT, MAX_FRAMES, COLOR, NO_DEMANGLE, WIDTH,
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.why/1'),
 ), (('inputs', ('core', 'exe')), ('processes', (('with', ('pid',)),)), ('later', (('with', ('last', 'crash')),))), (), ('whocall why core.4711', 'whocall why --last')),
'waits': ('what each thread of a core or a process waits for, who has it, and deadlocks', "What each thread waits for: a lock, a condition, another thread, a file, a time. Of locks, who has them, and which threads wait for each other in a ring. An owner is told where the lock's memory and the thread's own record prove it.", '', False, (
  CORE, EXE, PID, SEARCH, SYSROOT, DEBUG_DIRECTORY, SYMBOLS, SIGNATURES, DEBUGINFOD, ANNOUNCE,
  INFERIOR, COLOR, NO_DEMANGLE,
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.waits/1'),
 ), (('inputs', ('core', 'exe')), ('processes', (('with', ('pid',)),))), (), ('whocall waits core.4711 ./prog', 'whocall waits --pid 4711 --json')),
'compare': ("whocall's frames beside those of gdb", '', ('Each line has a verdict. Where both have the frame:', '  same      and they agree on its function, or only gdb has a name', '  unnamed   and neither has a name', '  named     and only whocall has a name', '  renamed   and their names are those of different functions', 'Where one of the two has it:', '  missing in gdb', "  false in gdb     whocall's frames around it follow from each other, or no", '                   code can lie at its address', '  unproven         whocall may have passed over it: its own next frame was', '                   found by a search of the stack (scan) or by the frame', '                   pointer', '  beyond whocall   whocall found no more callers', '  not on stack     an inlined call or a tail call, which debug information', '                   alone tells of: it counts for neither'), False, (
  CORE2, EXE, SEARCH, SYSROOT, DEBUG_DIRECTORY, SYMBOLS, SIGNATURES, DEBUGINFOD, ANNOUNCE,
  INFERIOR,
  (True, 'all', '', '', '', '', False, False, False, 'threads', False, (), 'every thread'),
  THREAD, WITHOUT, MAX_FRAMES, COLOR, NO_DEMANGLE,
  (True, 'gdb-frames', '', 'FILE', 'file', '', False, False, None, '', False, (), "gdb's frames by LWP as JSON (- for standard input); without it gdb is run for them"),
  (True, 'shadow', '', '', '', '', False, False, False, '', False, (), "not gdb's frames but the shadow stack of a traced program"),
  (True, 'width', '', 'N', 'limit', '', False, False, None, '', False, (), "below 110 columns gdb's frames stand below whocall's"),
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.compare/1 or whocall.shadow/1'),
 ), (('inputs', ('core', 'exe')), ('gdb', (('without', ('gdb-frames', 'shadow')),))), (), ('whocall compare core.4711 ./prog',)),
'functions': ('the function table of a file or a core', '', '', False, (
  FILE,
  (False, 'regex', '', 'REGEX', '', '?', False, False, '', '', False, (), ''),
  (True, 'module', '', 'MODULE', 'module', '', False, False, '', '', False, (), 'of a core: only the module whose path ends so'),
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.functions/1'),
  (True, 'format', '', 'NAME', 'choice', '', False, False, None, '', False, ('ghidra', 'ida', 'binja', 'r2'), 'as a script that gives a disassembler the functions of FILE: ghidra, ida, binja or r2'),
  EXE2, SEARCH, SYSROOT, DEBUG_DIRECTORY, SYMBOLS, SIGNATURES, DEBUGINFOD, ANNOUNCE, COLOR,
  NO_DEMANGLE,
  (True, 'width', '', 'N', 'limit', '', False, False, None, '', False, (), 'names that are longer are shortened'),
 ), (('inputs', ('file', 'exe')),), (), ("whocall functions ./prog '^read'",)),
'symbol': ('what stands at addresses of a file or a core', '', '', False, (
  FILE,
  (False, 'addresses', '', 'ADDR', '', '+', False, False, None, '', False, (), 'or the name of a function, as outputs show it'),
  EXE2, SEARCH, SYSROOT, DEBUG_DIRECTORY, SYMBOLS, SIGNATURES, DEBUGINFOD, ANNOUNCE, COLOR,
  NO_DEMANGLE, WIDTH, FILENAME_DISPLAY,
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.symbol/1'),
 ), (('inputs', ('file',)),), (), ('whocall symbol ./prog 1136 sub_1180',)),
'modules': ('the files that a core needs', 'The loaded files: addresses; found, missing, of another build (MISMATCH) or in memory; the share of code with unwind tables; named functions by source of the name; path and debug file. Below a file that lacks something stands what to do about it.', 'Files are looked for below --sysroot, at their own paths, in --search by name and by build id, in --debug-directory by build id, and last by --debuginfod, which asks here for the debug info of every file.', False, (
  CORE2, EXE, SEARCH, SYSROOT, DEBUG_DIRECTORY, SYMBOLS, SIGNATURES, DEBUGINFOD, ANNOUNCE,
  (True, 'width', '', 'N', 'limit', '', False, False, None, '', False, (), 'longer paths get a line of their own'),
  COLOR, NO_DEMANGLE,
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.modules/1'),
  (True, 'settings-of-gdb', '', '', '', '', False, False, False, '', True, (), ''),
 ), (('inputs', ('core', 'exe')),), (), ('whocall modules core.4711 --search ~/builds',)),
'audit': ('how far the analysis can be trusted on a file with unwind tables', '', '', False, (
  FILE,
  (True, 'limit', '', 'N', 'limit', '', False, False, None, '', False, (), 'at most N differences in full (default: 5)'),
  COLOR, NO_DEMANGLE,
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.audit/1'),
 ), (), (), ('whocall audit /usr/bin/gdb',)),
'signatures': ('make a file of signatures of libraries and programs', 'Makes a file by which --signatures recognises functions in stripped programs: those of static libraries (.a, .o) that were linked into them, and those of a program or a shared library that has names, or whose debug file lies beside it, in the same and the next stripped build of it. Static libraries that are linked together, such as libc.a, libm.a and libgcc_eh.a, belong into one file.', '', False, (
  (False, 'archives', '', 'BINARY', 'file', '+', False, False, None, '', False, (), 'libc.a, crt1.o, an unstripped program or shared library'),
  (True, 'output', 'o', 'FILE', 'file', '', False, True, None, '', False, (), 'the new file; - for standard output'),
 ), (('outputs', ('output',)),), (), ('whocall signatures libc.a libm.a -o libc.sig', 'whocall signatures shop-1.0 -o shop.sig')),
'export': ('save names and unwinding rules of a file for gdbs without whocall', 'Writes a symbol file for gdb: the names that whocall finds for the functions of FILE, and unwinding rules of those that no unwind table covers. With it any gdb prints true backtraces of the stripped program.', '', False, (
  (False, 'file', '', 'FILE', 'file', '', False, False, None, '', False, (), 'a program, a library, or a core'),
  (True, 'output', 'o', 'OUT', 'file', '', False, True, None, '', False, (), 'the new file; - for standard output'),
  (True, 'module', '', 'MODULE', 'module', '', False, False, '', '', False, (), 'of a core: of the module whose path ends so, not of the program'),
  EXE2, SEARCH, SYSROOT, DEBUG_DIRECTORY, SYMBOLS, SIGNATURES, DEBUGINFOD, ANNOUNCE,
 ), (('inputs', ('file', 'exe')), ('outputs', ('output',))), (), ('whocall export ./prog -o prog.debug',)),
'repair-plan': ('what a debugger has to be told, as JSON for programs', 'Prints what makes a debugger\'s own stacks of a core those that whocall finds: the frames of each thread with the registers of their callers, and for each module in which frames lie the symbol files with names and rules, which are made in --folder where the cache has none. Of a program or a library instead of a core only its symbol file. "whocall repair" in a gdb that cannot load the native module runs this.', '', False, (
  CORE2, EXE, SEARCH, SYSROOT, DEBUG_DIRECTORY, SYMBOLS, SIGNATURES, DEBUGINFOD, ANNOUNCE,
  THREAD, WITHOUT, MAX_FRAMES,
  (True, 'folder', '', 'DIR', 'folder', '', False, True, None, '', False, (), 'where new symbol files are put'),
  (True, 'module', '', 'MODULE', 'module', '', True, False, (), '', False, (), 'also the module whose path ends so; may be repeated'),
  (True, 'every-module', '', '', '', '', False, False, False, '', False, (), 'all modules of the core'),
  (True, 'attached', '', 'FILE', 'file', '', False, False, None, '', False, (), 'what the debugger was told before: the `path`, `build_id`, `bias` (null: wherever it lies) and `state` of modules in a list, as JSON (- for standard input)'),
 ), (('inputs', ('core', 'exe')), ('folders', ('folder',)), ('caches', ('symbols',))), (), ('whocall repair-plan core.4711 ./prog --folder /tmp/symbols',)),
'doctor': ('what is installed, what is missing, how to fix it', '', '', False, (
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.doctor/1'),
 ), None, (), ('whocall doctor',)),
'resolve': ('a log of a crash with names in place', 'Names the places in a log: crashes as libwhocall, glibc, sanitizers, Go, Rust, Java, the kernel, Android, systemd, gdb, perf, valgrind and others write them.', '', False, (
  (False, 'log', '', 'LOG', 'file', '?', False, False, '-', '', False, (), 'the file; standard input without it'),
  (True, 'symbols', '', 'DIR', 'folder', '', True, False, (), '', False, (), 'look there, and in all below, for programs, debug files and Breakpad files, by build id; may be repeated'),
  (True, 'exe', '', 'FILE', 'file', '', False, False, '', '', False, (), 'the program of addresses without a file'),
  (True, 'maps', '', 'FILE', 'file', '', False, False, None, '', False, (), 'a copy of /proc/PID/maps, for logs that hold none'),
  DEBUG_DIRECTORY, DEBUGINFOD, COLOR, NO_DEMANGLE,
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON, schema whocall.resolve/1'),
  ANNOUNCE,
 ), (), (), ('whocall resolve crash.log --symbols ~/builds', 'dmesg | whocall resolve')),
'unpack': ('write the core that is in a packed file, a crash report or a minidump', 'Writes the core that is in a packed file, a crash report or a minidump, for debuggers and other tools. Zeros become holes.', '', False, (
  (False, 'file', '', 'FILE', 'file', '', False, False, None, '', False, (), 'the input; - for standard input'),
  (True, 'output', 'o', 'CORE', 'file', '', False, True, None, '', False, (), 'the new core; - for standard output'),
  EXE2, SEARCH, SYSROOT, DEBUG_DIRECTORY, SYMBOLS, SIGNATURES, DEBUGINFOD, ANNOUNCE,
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'what was written, the program and the files found'),
 ), (('inputs', 'all'), ('outputs', ('output',))), (), ('whocall unpack crash.dmp -o core',)),
'shrink': ('make a core of some kilobytes that tells the same', 'Writes a core with what whocall reads of CORE to tell the frames of all threads, what functions were handed, why it ended and who waits for whom, and with the stacks as far as frames reach: everything else is left out. whocall, gdb and other tools open it as they open CORE.', '', False, (
  CORE2, EXE,
  (True, 'output', 'o', 'SMALL', 'file', '', False, True, None, '', False, (), 'the new core; - for standard output'),
  (True, 'private', '', '', '', '', False, False, False, '', False, (), 'for strangers: blank all memory and registers but pointers that lead from frame to frame, and the arguments of the command line'),
  SEARCH, SYSROOT, DEBUG_DIRECTORY, SYMBOLS, SIGNATURES, DEBUGINFOD, ANNOUNCE,
 ), (('inputs', 'all'), ('outputs', ('output',))), (), ('whocall shrink core.4711 -o small.core', 'whocall shrink core.4711 ./prog -o small.core --private')),
'report': ('a page on one or more cores, or its data as JSON', "One page that needs nothing else: what happened, the stacks of all threads and how surely each frame is known, the stack's words, code, registers, a flame graph, gdb's own backtrace beside it, and the modules with what is missing.", 'CORE may be packed (zstd, xz, gzip, lz4, bzip2), a minidump, a crash report of apport, a problem directory of ABRT, or - for standard input; with several, the page shows each.', False, (
  (False, 'core', '', 'CORE', 'file', '+', False, False, None, '', False, (), 'the core files'),
  (True, 'output', 'o', 'FILE', 'file', '', False, False, None, '', False, (), 'the page, such as crash.html; - for standard output'),
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'the data of the page, schema whocall.report/1'),
  (True, 'title', '', 'TEXT', '', '', False, False, '', '', False, (), 'of the page'),
  (True, 'no-gdb', '', '', '', '', False, False, False, '', False, (), 'do not run gdb for its backtrace'),
  EXE2, SEARCH, SYSROOT, DEBUG_DIRECTORY, SYMBOLS, SIGNATURES, DEBUGINFOD, ANNOUNCE, WITHOUT,
  MAX_FRAMES, NO_DEMANGLE,
 ), (('inputs', ('core', 'exe')), ('outputs', ('output',)), ('gdb', (('without', ('no-gdb',)),))), (('jinja2', 'a page (unlike --json)'),), ('whocall report core.4711 --exe ./prog -o crash.html',)),
'receive': ('wait for processes that crash, and make their reports', 'Makes the reports of processes that crash with libwhocall in them, as `bt --all` has them, while they stand still: of those with WHOCALL_CRASH_RECEIVER=PATH, or of PROGRAM and what that starts. Where nobody listens any more, they make reports of their own.', "With PROGRAM the status is that of PROGRAM, 128 and the signal's number where that has ended it. Reports hold data of the process; they are readable for their owner alone.", False, (
  (False, 'program', '', 'PROGRAM', 'words', '*', False, False, (), '', False, (), 'a program to start, and its arguments, behind --'),
  (True, 'socket', '', 'PATH', 'file', '', False, False, '', '', False, (), 'listen there; with PROGRAM: at a place of its own'),
  (True, 'output', 'o', 'DIR', 'folder', '', False, False, '.', '', False, (), 'keep reports there (default: here)'),
  (True, 'quota', '', 'BYTES', 'limit', '', False, False, 1073741824, '', False, (), 'no new reports where DIR holds that much (default: 1 GiB)'),
  (True, 'everyone', '', '', '', '', False, False, False, '', False, (), "of all users' processes, with their rights; for root"),
  (True, 'json', '', '', '', '', False, False, False, '', False, (), 'as JSON too, schema whocall.backtrace/2'),
  NO_ARGUMENTS, SEARCH, DEBUG_DIRECTORY, WITHOUT, MAX_FRAMES, NO_DEMANGLE,
 ), None, (), ('whocall receive -o crashes -- ./server --port 80', 'whocall receive --socket /run/crashes.sock -o /var/lib/crashes --everyone')),
'serve': ('reports on the cores of a directory, in a browser', 'Shows the cores in a directory and below it as pages, on the loopback interface alone. Nothing is written. Requests for other hosts are refused, and those without the token in the address that is printed.', '', False, (
  (False, 'directory', '', 'DIR', 'folder', '', False, False, None, '', False, (), 'where the cores lie'),
  (True, 'port', '', 'N', 'limit', '', False, False, 8470, '', False, (), 'the port (default: 8470; 0: any that is free)'),
  (True, 'gdb', '', '', '', '', False, False, False, '', False, (), 'run gdb for its backtrace: one more large program that reads the cores'),
  EXE2, SEARCH, SYSROOT, DEBUG_DIRECTORY, SYMBOLS, SIGNATURES, DEBUGINFOD, ANNOUNCE, WITHOUT,
  MAX_FRAMES, NO_DEMANGLE,
 ), (('gdb', (('with', ('gdb',)),)), ('later', True)), (('jinja2', 'whocall serve'),), ('whocall serve /var/crash',)),
'triage': ('many cores at once, in buckets of one bug each', ('Walks many cores at once and puts those of one bug into one bucket, whatever', 'build of the program they come from. Results come one by one into --store; a', 'run that was ended is taken up from there. A core that cannot be read is a row', 'with its reason.'), '', False, (
  (False, 'paths', '', 'DIR|FILE|-', 'file', '*', False, False, (), '', False, (), 'cores, directories of them; -: names on stdin'),
  (True, 'store', '', 'FILE', 'file', '', False, False, '', '', False, (), 'keep results there (SQLite), and take up from it'),
  (True, 'compare', '', 'STORE', 'file', '', False, False, None, '', False, (), 'say what is new since the run that made STORE'),
  (True, 'format', '', 'FORM', 'choice', '', False, False, 'text', '', False, ('text', 'json', 'html', 'sarif'), 'text, json, html or sarif'),
  (True, 'output', 'o', 'FILE', 'file', '', False, False, None, '', False, (), 'write there instead of to stdout'),
  (True, 'reports', '', 'DIR', 'folder', '', False, False, None, '', False, (), 'write a report of one core of each bucket there'),
  (True, 'jobs', 'j', 'N', 'limit', '', False, False, None, '', False, (), 'processes (default: one a processor)'),
  (True, 'scheduler', '', 'ADDRESS', '', '', False, False, None, '', False, (), 'let the workers of this Dask scheduler walk'),
  (True, 'time-limit', '', 'S', 'limit', '', False, False, 60, '', False, (), 'seconds a core (60; 0: none)'),
  (True, 'memory-limit', '', 'MIB', 'limit', '', False, False, 0, '', False, (), 'of a process, for what it does not map from files (0: its share of the machine)'),
  (True, 'retry', '', '', '', '', False, False, False, '', False, (), 'try again what could not be read'),
  (True, 'color', '', 'WHEN', '', '', False, False, 'auto', '', False, ('auto', 'always', 'never'), 'auto, always or never'),
  SEARCH, SYSROOT, DEBUG_DIRECTORY, SYMBOLS, SIGNATURES, DEBUGINFOD, ANNOUNCE,
 ), (('inputs', 'all'), ('outputs', ('output',)), ('folders_of', ('store',)), ('new_folders', ('reports',)), ('caches', ('triage',)), ('workers', True)), (('jinja2', '--format html'), ('distributed', '--scheduler')), ('whocall triage /var/crash --store crashes.db --format html -o crashes.html',)),
'trace': ('the calls that an instrumented program recorded', 'The calls that a program recorded which was compiled with -finstrument-functions and linked with libwhocall-trace: as an indented tree, or in one of the forms below.', '', False, (
  (False, 'file', '', 'FILE', 'file', '?', False, False, None, '', False, (), 'a core, or WHOCALL_TRACE_FILE'),
  (False, 'exe', '', 'EXE', 'file', '?', False, False, '', '', False, (), 'the program of a core'),
  (True, 'pid', '', 'N', 'integer', '', False, False, None, '', False, (), 'a running process'),
  (True, 'callers', '', '', '', '', False, False, False, 'form', False, (), 'each function under its callers and above its callees, with counts and times'),
  (True, 'profile', '', '', '', '', False, False, False, 'form', False, (), 'counts and times of each function'),
  (True, 'stacks', '', '', '', '', False, False, False, 'form', False, (), 'the shadow stacks: what each thread is in now'),
  (True, 'json', '', '', '', '', False, False, False, 'form', False, (), 'the Trace Event Format, for Perfetto and chrome://tracing'),
  (True, 'folded', '', '', '', '', False, False, False, 'form', False, (), 'a line for each stack with its time in nanoseconds, for flame graphs'),
  (True, 'svg', '', '', '', '', False, False, False, 'form', False, (), 'a flame graph'),
  (True, 'diff', '', 'FILE', 'file', '', False, False, '', '', False, (), 'a later trace, or its core: the profiles of both, what has changed most first'),
  (True, 'thread', '', 'LWP', 'integer', '', True, False, (), '', False, (), "only the thread with this id of the kernel's; may be repeated"),
  (True, 'depth', '', 'N', 'limit', '', False, False, None, '', False, (), 'no calls deeper than N; the outermost have 0'),
  (True, 'only', '', 'REGEX', '', '', False, False, '', '', False, (), 'the functions whose names match, and what they call'),
  (True, 'function', '', 'REGEX', '', '', False, False, '', '', False, (), 'calls of the functions alone whose names match'),
  (True, 'module', '', 'MODULE', 'module', '', False, False, '', '', False, (), 'functions of the module whose path ends so'),
  (True, 'size', '', 'BYTES', 'limit', '', False, False, None, '', False, (), 'calls of functions with BYTES of code or more'),
  (True, 'longer', '', 'TIME', '', '', False, False, '', '', False, (), 'calls that took TIME (500ns, 10us, 5ms, 1s) or longer'),
  (True, 'follow', '', '', '', '', False, False, False, '', False, (), 'go on telling calls as they come, of a process or the file of one, until it has ended'),
  (True, 'last', '', 'N', 'limit', '', False, False, None, '', False, (), 'only the last N lines of the tree'),
  (True, 'output', 'o', 'FILE', 'file', '', False, False, None, '', False, (), 'write to FILE; - for standard output'),
  SEARCH, SYSROOT, DEBUG_DIRECTORY, SYMBOLS, SIGNATURES, DEBUGINFOD, ANNOUNCE, COLOR,
  NO_DEMANGLE,
 ), (('inputs', ('file', 'exe', 'diff')), ('outputs', ('output',)), ('processes', (('with', ('pid',)),))), (), ('whocall trace core.4711 --profile', 'whocall trace calls.trace --svg -o calls.svg')),
'gdb': ('start gdb with the extension loaded; all else goes to gdb', '', '', True, (), (), (), ('whocall gdb ./prog core.4711',)),
}
