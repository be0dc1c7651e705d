"""Python and C by turns: each key of a maximum takes another maximum."""

import os


def deep(n):
    return max([n], key=lambda x: deep(n - 1)) if n else os.abort()


deep(8)
