"""Alignment against a plain recursion, and its bounds."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whocall.report.comparison import align as module
from whocall.report.comparison.align import align

sequences = st.lists(st.sampled_from("abcd"), max_size=12)


def longest(left: list[str], right: list[str]) -> int:
    """Length of a longest common subsequence, by the definition."""

    @cache
    def best(a: int, b: int) -> int:
        if a == len(left) or b == len(right):
            return 0
        if left[a] == right[b]:
            return 1 + best(a + 1, b + 1)
        return max(best(a + 1, b), best(a, b + 1))

    return best(0, 0)


def assert_is_common_subsequence(
    pairs: list[tuple[int, int]], left: list[str], right: list[str]
) -> None:
    assert all(left[a] == right[b] for a, b in pairs)
    assert all(a < c and b < d for (a, b), (c, d) in zip(pairs, pairs[1:]))


@given(sequences, sequences)
def test_is_a_longest_common_subsequence(left: list[str], right: list[str]) -> None:
    pairs = align(left, right)
    assert_is_common_subsequence(pairs, left, right)
    assert len(pairs) == longest(left, right)


@given(sequences, sequences)
def test_the_greedy_search_is_right_if_not_longest(left: list[str], right: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_CELLS", 0)
        assert_is_common_subsequence(align(left, right), left, right)


def test_deep_recursion_is_quick() -> None:
    ours = [0, *[1] * 50_000, 2]
    theirs = [0, *[1] * 40_000, 3, *[1] * 10_000, 2]
    assert len(align(ours, theirs)) == 50_002
