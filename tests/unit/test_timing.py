import pytest

from minutero.domain.instants import DAY, MINUTE, SECOND
from minutero.domain.timing import Timing
from minutero.errors import SettingsError


def test_the_defaults_keep_every_promise():
    assert Timing().look_ahead == 3 * MINUTE


@pytest.mark.parametrize(
    ("broken", "named"),
    [
        ({"look_ahead": MINUTE - 1}, "the look-ahead must"),
        ({"look_ahead": 14 * MINUTE + 1}, "the look-ahead must"),
        ({"look_back": MINUTE}, "the look-back must"),
        ({"look_back": 5 * MINUTE + 1}, "the look-back must"),
        (
            {"dispatcher_timeout": MINUTE, "claim_lease": 121 * SECOND},
            "the dispatcher's time-out must be under its minute",
        ),
        ({"shard_lease": 50 * SECOND}, "a shard's lease must"),
        ({"claim_lease": 100 * SECOND}, "an open claim's lease must"),
        (
            {"settle_grace": 120 * SECOND, "client_clock_margin": MINUTE},
            "the settle grace must outlast an open claim's lease",
        ),
        (
            {"client_clock_margin": 5 * MINUTE},
            "the settle grace must outlast the error allowed to clients' clocks",
        ),
        ({"worker_timeout": SECOND - 1}, "the worker's time-out must"),
        ({"worker_timeout": 15 * MINUTE + 1}, "the worker's time-out must"),
        ({"retention": 30 * DAY - 1}, "the retention must"),
    ],
)
def test_times_that_break_a_promise_are_refused_by_name(broken, named):
    with pytest.raises(SettingsError) as refused:
        Timing(**broken)
    assert named in str(refused.value)
    assert ";" not in str(refused.value), "one broken relation, one named"


@pytest.mark.parametrize(
    "kept",
    [
        {"look_ahead": MINUTE},
        {"look_ahead": 14 * MINUTE},
        {"look_back": MINUTE + 1},
        {"look_back": 5 * MINUTE},
        {"dispatcher_timeout": MINUTE - 1},
        {"shard_lease": 50 * SECOND + 1},
        {"claim_lease": 100 * SECOND + 1},
        {"settle_grace": 120 * SECOND + 1, "client_clock_margin": MINUTE},
        {"client_clock_margin": 5 * MINUTE - 1},
        {"worker_timeout": SECOND},
        {"worker_timeout": 15 * MINUTE},
        {"retention": 30 * DAY},
    ],
)
def test_times_just_within_are_taken(kept):
    assert Timing(**kept)


def test_everything_broken_is_named_at_once():
    with pytest.raises(SettingsError) as refused:
        Timing(look_ahead=0, retention=0)
    assert "look-ahead" in str(refused.value)
    assert "retention" in str(refused.value)
