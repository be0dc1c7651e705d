"""The places that tests run in: what each allows, and how to make a poor one out of a rich one.

`mounts` gives a process mounts of its own in any root, `needs` tells what a place refuses, and
`unprivileged` with `seccomp` makes the container that build services give.
"""
