"""Alignment of two sequences: which elements of one stand in the other, in order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Sequence

MOST_CELLS = 4_000_000  # of the quadratic table; beyond it, alignment is greedy


def align(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Pairs of indices of a longest common subsequence, rising in both.

    Equal beginnings and ends are paired first; they are part of some longest common subsequence.
    Two stacks differ in the middle, if at all, so the quadratic part is small as a rule. Where it
    is not (more than MOST_CELLS) the pairs are those that a greedy search finds.
    """
    shorter = min(len(left), len(right))
    head = 0
    while head < shorter and left[head] == right[head]:
        head += 1
    tail = 0
    while tail < shorter - head and left[-1 - tail] == right[-1 - tail]:
        tail += 1
    middle_left = left[head : len(left) - tail]
    middle_right = right[head : len(right) - tail]
    search = _greedy if len(middle_left) * len(middle_right) > MOST_CELLS else _longest
    pairs = [(index, index) for index in range(head)]
    pairs += [(head + a, head + b) for a, b in search(middle_left, middle_right)]
    pairs += [(len(left) - back, len(right) - back) for back in range(tail, 0, -1)]
    return pairs


def _longest(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    width = len(right) + 1
    table = [[0] * width]  # row i: lengths for the last i elements of left
    for element in reversed(left):
        below = table[-1]
        row = [0] * width
        for at in range(len(right) - 1, -1, -1):
            if element == right[at]:
                row[at] = below[at + 1] + 1
            else:
                row[at] = max(below[at], row[at + 1])
        table.append(row)
    pairs = []
    a = b = 0
    while a < len(left) and b < len(right):
        if left[a] == right[b]:
            pairs.append((a, b))
            a, b = a + 1, b + 1
        elif table[len(left) - a - 1][b] >= table[len(left) - a][b + 1]:
            a += 1
        else:
            b += 1
    return pairs


def _greedy(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    places: dict[Hashable, list[int]] = {}
    for index, element in enumerate(left):
        places.setdefault(element, []).append(index)
    pairs = []
    after = 0
    for index, element in enumerate(right):
        known = places.get(element, [])
        found = bisect_left(known, after)
        if found < len(known):
            pairs.append((known[found], index))
            after = known[found] + 1
    return pairs
