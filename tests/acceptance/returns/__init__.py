"""Return addresses that no call left, and tables that lead to other stacks.

The programs disturb their own stacks where the environment asks for it. Undisturbed, the same file
dies at the same place, so eu-stack's chain of that core says what must be found.
"""
