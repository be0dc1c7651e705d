"""Crashes that processes tell of while they stand still: the other side of libwhocall's receiver.

A process greets (`greetings`), a process of ours hears what it has to say and looks at it
(`worker`), and what it finds is kept (`store`); `receiver` does that for as long as it is wanted.
native/runtime/crash/receiver.h says what the two sides say to each other.
"""
