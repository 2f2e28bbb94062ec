import pytest
from hypothesis import strategies as st
from properties import given

from minutero.domain.instants import MINUTE, SECOND
from minutero.domain.retry import backoff


@pytest.mark.parametrize(
    ("attempt", "least", "most"),
    [(1, 1, 2), (2, 2, 4), (3, 4, 8), (9, 256, 512), (10, 450, 900), (20, 450, 900)],
)
def test_each_pause_doubles_from_2_s_to_15_minutes_and_is_spread_over_its_upper_half(
    attempt, least, most
):
    assert backoff(attempt, 0.0) == least * SECOND
    assert backoff(attempt, 1.0) == most * SECOND


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_no_retry_comes_at_once_or_needs_more_than_one_message(attempt, chance):
    pause = backoff(attempt, chance)
    assert isinstance(pause, int)
    assert SECOND <= pause <= 15 * MINUTE
