"""The files of a process's modules: where they are looked for, on disk, in a server, in memory."""
