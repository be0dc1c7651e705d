"""What whocall costs beside its peers: one command that measures, checks and prints a table.

    tests/bench/run [--small] [--markdown] [--rounds N] [SUBJECT...]

`inputs` makes what is looked at, `spawner` and `figures` measure, `peers` says how the others are
asked and `answers` whether they say the same; each module of `subjects` measures one subject, and
`targets` is the table: which figure is set beside which, and what is wanted.
"""
