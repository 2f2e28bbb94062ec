"""The idempotent call: by Powertools and plainly, over the ledger in memory and over the table."""

import pytest
from worlds import KEEP, NOW

from minutero.aws.run_once import PowertoolsRunOnce
from minutero.aws.run_record import record_id
from minutero.domain.exchanged import Failed, Finished, InProgress, Overtaken
from minutero.domain.instants import MINUTE, SECOND
from minutero.domain.run import Attempt, Ending, Outcome
from minutero.errors import SettingsError, Unavailable
from minutero.testing import SettableClock
from minutero.testing.memory import LedgerRunOnce

RUN = "1abc.0"
UNTIL = NOW + MINUTE
DONE = Outcome(Ending.SUCCEEDED, '{"n":1}', note="ñ")


@pytest.fixture
def clock():
    return SettableClock(NOW)


@pytest.fixture(params=[LedgerRunOnce, PowertoolsRunOnce])
def run_once(request, world, clock):
    return request.param(world.ledger, clock)


def done(attempt):
    return DONE


def never(attempt):
    raise AssertionError("the body ran")


def fails(attempt):
    raise ValueError(f"no luck in attempt {attempt}")


def test_a_fresh_run_finishes(run_once, world):
    assert run_once(RUN, UNTIL, KEEP, done) == Finished(DONE, fresh=True)
    record = world.ledger.get(RUN)
    assert (record.outcome, record.attempts, record.finished_at) == (DONE, 1, NOW)


def test_a_finished_run_returns_its_outcome_and_runs_no_more(run_once, clock):
    run_once(RUN, UNTIL, KEEP, done)
    clock.advance(10 * MINUTE)
    assert run_once(RUN, clock.now() + MINUTE, KEEP, never) == Finished(DONE, fresh=False)


def test_every_ending_comes_back_as_it_was(run_once):
    for number, ending in enumerate(Ending):
        outcome = Outcome(ending, reason='"quoted"\n', note=f"{number}")
        assert run_once(f"1x.{number}", UNTIL, KEEP, lambda _, o=outcome: o).outcome == outcome
        assert run_once(f"1x.{number}", UNTIL, KEEP, never) == Finished(outcome, fresh=False)


def test_a_running_attempt_is_told_with_its_end(run_once, world):
    world.ledger.start(RUN, "another", NOW, UNTIL, KEEP)
    assert run_once(RUN, UNTIL + MINUTE, KEEP, never) == InProgress(UNTIL)


def test_an_exception_fails_the_attempt_and_the_next_one_counts_on(run_once, world, clock):
    failed = run_once(RUN, UNTIL, KEEP, fails)
    assert isinstance(failed, Failed)
    assert (failed.attempt, str(failed.error)) == (1, "no luck in attempt 1")
    clock.advance(SECOND)
    assert run_once(RUN, UNTIL, KEEP, fails).attempt == 2
    clock.advance(SECOND)
    attempts = []
    assert run_once(RUN, UNTIL, KEEP, lambda n: attempts.append(n) or DONE).fresh
    assert attempts == [3]
    assert world.ledger.get(RUN).failures == (
        Attempt(1, NOW, "ValueError: no luck in attempt 1"),
        Attempt(2, NOW + SECOND, "ValueError: no luck in attempt 2"),
    )


def test_an_abandoned_attempt_is_taken_over(run_once, world, clock):
    world.ledger.start(RUN, "dead", NOW, UNTIL, KEEP)
    clock.set(UNTIL + 1)
    attempts = []
    run_once(RUN, UNTIL + MINUTE, KEEP, lambda n: attempts.append(n) or DONE)
    assert attempts == [2]


@pytest.mark.parametrize("body", [done, fails])
def test_an_overtaken_attempt_writes_nothing(run_once, world, clock, body):
    def overtaken(attempt):
        clock.set(UNTIL + 1)
        world.ledger.start(RUN, "another", clock.now(), UNTIL + MINUTE, KEEP)
        return body(attempt)

    assert run_once(RUN, UNTIL, KEEP, overtaken) == Overtaken()
    record = world.ledger.get(RUN)
    assert (record.owner, record.outcome, record.failures) == ("another", None, ())


def test_a_cancelled_run_never_calls_its_body(run_once, world):
    cancelled = Outcome(Ending.CANCELLED)
    world.ledger.close(RUN, cancelled, NOW, KEEP)
    assert run_once(RUN, UNTIL, KEEP, never) == Finished(cancelled, fresh=False)


def test_an_expired_record_is_as_none(run_once, world, clock):
    run_once(RUN, UNTIL, KEEP, done)
    clock.set((KEEP + 1) * SECOND)
    again = run_once(RUN, clock.now() + MINUTE, KEEP + 99, done)
    assert again == Finished(DONE, fresh=True)


def test_whatever_powertools_raises_in_a_body_is_the_bodys(run_once, world):
    from aws_lambda_powertools.utilities.idempotency import exceptions

    calls = []
    kinds = [
        exceptions.IdempotencyInconsistentStateError,
        exceptions.IdempotencyAlreadyInProgressError,
        exceptions.IdempotencyPersistenceLayerError,
        exceptions.IdempotencyItemAlreadyExistsError,
    ]
    for number, kind in enumerate(kinds):

        def body(attempt, kind=kind):
            calls.append(attempt)
            raise kind("from a job's own use")

        failed = run_once(f"1p.{number}", UNTIL, KEEP, body)
        assert isinstance(failed, Failed)
        assert type(failed.error) is kind
    assert calls == [1, 1, 1, 1]


class SilentLedger:
    """A ledger that does not answer one kind of request."""

    def __init__(self, ledger, silent):
        self._ledger = ledger
        self._silent = silent

    def __getattr__(self, name):
        if name == self._silent:
            return self._no_answer
        return getattr(self._ledger, name)

    def _no_answer(self, *_):
        raise Unavailable("no answer")


@pytest.mark.parametrize("kind", [LedgerRunOnce, PowertoolsRunOnce])
@pytest.mark.parametrize(("silent", "body"), [("start", never), ("finish", done), ("fail", fails)])
def test_a_ledger_that_does_not_answer_is_told(memory_world, clock, kind, silent, body):
    with pytest.raises(Unavailable):
        kind(SilentLedger(memory_world.ledger, silent), clock)(RUN, UNTIL, KEEP, body)


def test_without_its_lock_powertools_runs_nothing(memory_world, clock, monkeypatch):
    monkeypatch.setenv("POWERTOOLS_IDEMPOTENCY_DISABLED", "true")
    call = PowertoolsRunOnce(memory_world.ledger, clock)
    with (
        pytest.warns(UserWarning, match="Disabling idempotency"),
        pytest.raises(SettingsError, match="POWERTOOLS_IDEMPOTENCY_DISABLED"),
    ):
        call(RUN, UNTIL, KEEP, never)


def test_the_record_lies_where_powertools_looks_for_it(memory_world, clock, monkeypatch):
    ids = []
    call = PowertoolsRunOnce(memory_world.ledger, clock)
    from minutero.aws import run_once

    put = run_once._Call._put_record
    monkeypatch.setattr(
        run_once._Call,
        "_put_record",
        lambda self, data_record: ids.append(data_record.idempotency_key) or put(self, data_record),
    )
    call(RUN, UNTIL, KEEP, done)
    assert ids == [record_id(RUN)]


def test_an_end_of_the_process_is_no_failure_of_the_attempt(run_once, world):
    def killed(attempt):
        raise SystemExit(1)

    with pytest.raises(SystemExit):
        run_once(RUN, UNTIL, KEEP, killed)
    assert world.ledger.get(RUN).is_running(NOW)
