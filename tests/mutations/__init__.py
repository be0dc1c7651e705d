"""Random damage to cores and programs by the thousand: every walk ends soon, in bounded memory, and
without killing its process.

    python3 tests/mutations --count 20000 --seed 1      # the campaign
    python3 tests/mutations --repeat 1 4711             # one of its mutants once more

What is done to which file hangs on the seed and the mutant's number only.
"""
