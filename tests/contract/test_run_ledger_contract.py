"""The run ledger: one owner an attempt, attempts that add up."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from worlds import KEEP, NOW

from minutero.domain.instants import HOUR, MINUTE, SECOND
from minutero.domain.run import Attempt, Ending, Outcome

RUN = "1abc.0"
UNTIL = NOW + MINUTE
DONE = Outcome(Ending.SUCCEEDED, '{"n":1}', note="ñ")
CANCELLED = Outcome(Ending.CANCELLED)
EXPIRED = (KEEP + 1) * SECOND


def test_a_first_start_is_ours(world):
    record = world.ledger.start(RUN, "a", NOW, UNTIL, KEEP)
    assert (record.owner, record.attempts, record.outcome) == ("a", 1, None)
    assert (record.started_at, record.in_progress_until) == (NOW, UNTIL)
    assert world.ledger.get(RUN) == record


def test_an_unknown_run_has_no_record(world):
    assert world.ledger.get(RUN) is None


def test_runs_do_not_meet(world):
    world.ledger.start(RUN, "a", NOW, UNTIL, KEEP)
    assert world.ledger.start("1abc.1", "b", NOW, UNTIL, KEEP).owner == "b"


def test_a_running_attempt_is_in_the_way_until_its_last_millisecond(world):
    first = world.ledger.start(RUN, "a", NOW, UNTIL, KEEP)
    assert world.ledger.start(RUN, "b", UNTIL, UNTIL + MINUTE, KEEP) == first
    taken = world.ledger.start(RUN, "b", UNTIL + 1, UNTIL + MINUTE, KEEP)
    assert (taken.owner, taken.attempts, taken.started_at) == ("b", 2, NOW)


def test_ones_own_start_again_is_started_once(world):
    first = world.ledger.start(RUN, "a", NOW, UNTIL, KEEP)
    assert world.ledger.start(RUN, "a", NOW + 1, UNTIL + 1, KEEP) == first


def test_a_finished_run_is_in_the_way_with_its_outcome(world):
    world.ledger.start(RUN, "a", NOW, UNTIL, KEEP)
    assert world.ledger.finish(RUN, "a", DONE, NOW + 5)
    record = world.ledger.start(RUN, "b", UNTIL + MINUTE, UNTIL + 2 * MINUTE, KEEP)
    assert (record.outcome, record.owner, record.finished_at) == (DONE, "a", NOW + 5)
    assert record.attempts == 1


def test_finishing_again_is_no_harm(world):
    world.ledger.start(RUN, "a", NOW, UNTIL, KEEP)
    assert world.ledger.finish(RUN, "a", DONE, NOW + 5)
    assert world.ledger.finish(RUN, "a", DONE, NOW + 6)
    assert world.ledger.get(RUN).finished_at == NOW + 5


def test_an_overtaken_attempt_can_neither_finish_nor_fail(world):
    world.ledger.start(RUN, "a", NOW, UNTIL, KEEP)
    world.ledger.start(RUN, "b", UNTIL + 1, UNTIL + MINUTE, KEEP)
    before = world.ledger.get(RUN)
    assert not world.ledger.finish(RUN, "a", DONE, UNTIL + 2)
    assert not world.ledger.fail(RUN, "a", "late", UNTIL + 2)
    assert world.ledger.get(RUN) == before
    assert world.ledger.finish(RUN, "b", DONE, UNTIL + 3)
    assert not world.ledger.fail(RUN, "a", "late", UNTIL + 4)
    assert world.ledger.get(RUN).outcome == DONE


def test_what_was_never_started_cannot_end(world):
    assert not world.ledger.finish(RUN, "a", DONE, NOW)
    assert not world.ledger.fail(RUN, "a", "?", NOW)
    assert world.ledger.get(RUN) is None


def test_a_failed_attempt_is_kept_and_the_next_may_start_at_once(world):
    world.ledger.start(RUN, "a", NOW, UNTIL, KEEP)
    assert world.ledger.fail(RUN, "a", "ValueError: no", NOW + 1)
    failed = world.ledger.get(RUN)
    assert (failed.outcome, failed.is_running(NOW + 1)) == (None, False)
    second = world.ledger.start(RUN, "b", NOW + 2, UNTIL, KEEP)
    assert (second.owner, second.attempts, second.started_at) == ("b", 2, NOW)
    assert world.ledger.fail(RUN, "b", "again", NOW + 3)
    assert world.ledger.get(RUN).failures == (
        Attempt(1, NOW + 1, "ValueError: no"),
        Attempt(2, NOW + 3, "again"),
    )


def test_failing_again_lists_one_failure(world):
    world.ledger.start(RUN, "a", NOW, UNTIL, KEEP)
    assert world.ledger.fail(RUN, "a", "no", NOW + 1)
    assert world.ledger.fail(RUN, "a", "no", NOW + 2)
    assert world.ledger.get(RUN).failures == (Attempt(1, NOW + 1, "no"),)


def test_an_expired_record_is_as_none(world):
    world.ledger.start(RUN, "a", NOW, UNTIL, KEEP)
    world.ledger.fail(RUN, "a", "no", NOW + 1)
    world.ledger.start(RUN, "b", NOW + 2, UNTIL, KEEP)
    world.ledger.finish(RUN, "b", DONE, NOW + 3)
    assert world.ledger.start(RUN, "c", KEEP * SECOND, UNTIL, KEEP).outcome == DONE
    fresh = world.ledger.start(RUN, "c", EXPIRED, EXPIRED + MINUTE, KEEP + 9)
    assert (fresh.owner, fresh.attempts, fresh.outcome, fresh.failures) == ("c", 1, None, ())
    assert (fresh.started_at, fresh.starts) == (EXPIRED, (EXPIRED,))
    assert world.ledger.get(RUN) == fresh


def test_each_start_is_kept_through_failures_crashes_and_the_end(world):
    for owner, now in (("a", NOW), ("b", NOW + 10), ("c", NOW + MINUTE)):
        record = world.ledger.start(RUN, owner, now, now + SECOND, KEEP)
        if owner == "a":
            world.ledger.fail(RUN, owner, "no", now + 1)
            continue
        assert record.owner == ("b" if owner == "b" else "c")
    assert record.starts == (NOW, NOW + 10, NOW + MINUTE)
    world.ledger.finish(RUN, "c", DONE, NOW + 2 * MINUTE)
    assert world.ledger.get(RUN).starts == (NOW, NOW + 10, NOW + MINUTE)
    late = world.ledger.start(RUN, "d", NOW + HOUR, NOW + 2 * HOUR, KEEP)
    assert late.starts == (NOW, NOW + 10, NOW + MINUTE)


def test_what_did_not_start_and_ones_own_start_again_are_no_starts(world):
    world.ledger.start(RUN, "a", NOW, UNTIL, KEEP)
    world.ledger.start(RUN, "a", NOW + 1, UNTIL + 1, KEEP)
    world.ledger.start(RUN, "b", NOW + 2, UNTIL, KEEP)
    assert world.ledger.get(RUN).starts == (NOW,)


def test_closing_keeps_the_starts(world):
    world.ledger.start(RUN, "a", NOW, UNTIL, KEEP)
    assert world.ledger.close(RUN, CANCELLED, UNTIL + 1, KEEP).starts == (NOW,)


def test_closing_takes_the_lock_a_start_takes(world):
    closed = world.ledger.close(RUN, CANCELLED, NOW, KEEP)
    assert (closed.outcome, closed.attempts, closed.finished_at) == (CANCELLED, 0, NOW)
    assert world.ledger.start(RUN, "a", NOW + 1, UNTIL, KEEP).outcome == CANCELLED
    assert world.ledger.close(RUN, DONE, NOW + 2, KEEP).outcome == CANCELLED


def test_a_running_attempt_is_not_closed(world):
    running = world.ledger.start(RUN, "a", NOW, UNTIL, KEEP)
    assert world.ledger.close(RUN, CANCELLED, UNTIL, KEEP) == running
    assert world.ledger.finish(RUN, "a", DONE, UNTIL)


def test_closing_keeps_what_the_attempts_were(world):
    world.ledger.start(RUN, "a", NOW, UNTIL, KEEP)
    world.ledger.fail(RUN, "a", "no", NOW + 1)
    closed = world.ledger.close(RUN, CANCELLED, NOW + 2, KEEP)
    assert (closed.outcome, closed.attempts) == (CANCELLED, 1)
    assert closed.failures == (Attempt(1, NOW + 1, "no"),)
    assert not world.ledger.finish(RUN, "a", DONE, NOW + 3)


def test_an_abandoned_attempt_can_be_closed(world):
    world.ledger.start(RUN, "a", NOW, UNTIL, KEEP)
    assert world.ledger.close(RUN, CANCELLED, UNTIL + 1, KEEP).outcome == CANCELLED
    assert not world.ledger.finish(RUN, "a", DONE, UNTIL + 2)


def test_many_records_are_read_at_once(world):
    runs = [f"1abc{n}.0" for n in range(100)]
    for run_id in runs[::3]:
        world.ledger.start(run_id, "a", NOW, UNTIL, KEEP)
    world.ledger.fail(runs[0], "a", "no", NOW + 1)
    world.ledger.finish(runs[3], "a", DONE, NOW + 1)
    world.ledger.close(runs[1], CANCELLED, NOW, KEEP)
    found = world.ledger.get_many(runs)
    assert found == {run_id: world.ledger.get(run_id) for run_id in {runs[1], *runs[::3]}}


def test_of_no_runs_no_record_is_read(world):
    assert world.ledger.get_many([]) == {}


@pytest.mark.stack
@pytest.mark.parametrize("run", ["1x.0", "1y.3"])
def test_racing_starts_have_one_winner(ministack_world, run):
    owners = [f"owner{n}" for n in range(16)]

    def start(owner: str) -> bool:
        return ministack_world.ledger.start(run, owner, NOW, UNTIL, KEEP).owner == owner

    with ThreadPoolExecutor(16) as threads:
        assert sum(threads.map(start, owners)) == 1
    assert ministack_world.ledger.get(run).attempts == 1


@pytest.mark.stack
def test_racing_starts_over_an_expired_record_have_one_winner(ministack_world):
    ledger = ministack_world.ledger
    ledger.start(RUN, "old", NOW, UNTIL, KEEP)

    def start(owner: str) -> bool:
        return ledger.start(RUN, owner, EXPIRED, EXPIRED + MINUTE, KEEP + 99).owner == owner

    with ThreadPoolExecutor(16) as threads:
        assert sum(threads.map(start, [f"owner{n}" for n in range(16)])) == 1
    assert ledger.get(RUN).attempts == 1
