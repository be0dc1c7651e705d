"""What the tests of more than one subject share. What one subject alone needs lies in its folder.

Crashes, and what whocall makes of them:
    chains              call chains as lists of pcs, and how two differ
    front_ends          the command line and gdb, started as users start them
    corpusruns          the crash corpora, built once a session
    damageruns          the damage corpus beside them
    stockcores          cores of stock programs, dumped once a session
    stopped_processes   processes that stop themselves
    broken_files        a small crashed program, and everything that can be wrong with its files
    bareroot            a tree of the files of cores without their unwind tables

Names, and who knows the true ones:
    function_tables     function tables as sets, and what of a file is code
    name_lists          lists of names as other tools write them
    name_twins          stripped files with their names put elsewhere, and twins to judge by
    real_files          real stripped files with twins
    rust_programs       Rust programs that panic

What was measured:
    peak_memory         what a command takes in memory
    scoreboard          tables below the results of every run
"""
