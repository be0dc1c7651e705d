"""The scoring itself: what is false, what is missing, what lies behind the truth's end."""

from __future__ import annotations

from field_trial.score import Found, Score, of_thread


def _frames(*pcs: int, trust: str = "cfi") -> list[Found]:
    return [Found(pc, None, trust, None, None, "") for pc in pcs]


def _figures(score: Score) -> tuple[int, int, int]:
    return score.missing, score.false, score.further


def test_equal_chains() -> None:
    assert _figures(of_thread(_frames(1, 2, 3), [1, 2, 3], complete=True)) == (0, 0, 0)


def test_a_frame_in_between_is_false() -> None:
    score = of_thread(_frames(1, 9, 2, 3), [1, 2, 3], complete=False)
    assert _figures(score) == (0, 1, 0)
    assert score.boldest == "cfi"


def test_what_follows_a_whole_truth_is_false() -> None:
    assert _figures(of_thread(_frames(1, 2, 3, 4), [1, 2, 3], complete=True)) == (0, 1, 0)


def test_what_follows_a_truth_that_ends_early_is_further() -> None:
    assert _figures(of_thread(_frames(1, 2, 3, 4, 5), [1, 2, 3], complete=False)) == (0, 0, 2)


def test_what_stands_in_place_of_the_last_true_frames_is_false() -> None:
    assert _figures(of_thread(_frames(1, 8, 9, 7), [1, 2, 3], complete=False)) == (2, 2, 1)


def test_the_boldest_is_the_best_trust() -> None:
    frames = [*_frames(1), *_frames(9, trust="scan"), *_frames(8, trust="analysis")]
    assert of_thread(frames, [1, 2], complete=True).boldest == "analysis"


def test_what_eu_stack_is_known_to_drop_is_not_false() -> None:
    frames = [*_frames(1), Found(9, None, "cfi", "funcall1", None, ""), *_frames(2)]
    assert _figures(of_thread(frames, [1, 2], True, dropped=["funcall1"])) == (0, 0, 1)
    assert _figures(of_thread(frames, [1, 2], True, dropped=["other"])) == (0, 1, 0)
    assert _figures(of_thread(frames, [1, 5, 2], True, dropped=["funcall1"])) == (1, 1, 0)


def test_what_returned_is_known_by_its_place_on_the_stack() -> None:
    frames = [Found(pc, cfa, "scan", None, None, "") for pc, cfa in [(1, 8), (5, 16), (5, 32)]]
    returned = [(5, 8), (5, 16)]
    assert _figures(of_thread(frames, [1], False, (), returned)) == (0, 0, 0)
    astray = [frames[0], Found(7, 12, "analysis", None, None, ""), Found(5, 16, "cfi", *("",) * 3)]
    score = of_thread([*astray, frames[2]], [1], False, (), returned)
    assert _figures(score) == (1, 2, 0)
    assert score.boldest == "cfi"
    assert _figures(of_thread(frames[:1], [1], False, (), returned)) == (2, 0, 0)
