"""What a user's test may have go wrong; and that nothing but idle ticks is passed over."""

import random
from datetime import timedelta

import pytest

from minutero.domain.instants import MINUTE
from minutero.testing import CrashPoint, MinuteroApp
from minutero.testing.app import BEGIN
from minutero.testing.clockwork import Clockwork

VISIBLE_AGAIN = 360


@pytest.fixture
def app():
    with MinuteroApp() as app:
        yield app


@pytest.fixture
def wallets(app):
    """The table that the job `pay` adds ten coins to, once a task."""
    table = app.table("wallets", "id")

    @app.job("pay")
    def pay(payload, run):
        with run.once(run.key) as tx:
            tx.update("wallets", {"id": payload}, "ADD coins :ten", values={":ten": 10})
        return tx.applied

    return table


def starts(app):
    return [(one.started_at - BEGIN).total_seconds() for one in app.attempts()]


# --- crashes


@pytest.mark.parametrize("point", CrashPoint)
def test_a_run_that_crashed_anywhere_comes_again_and_its_slot_holds(app, wallets, point):
    app.crash_next(point)
    task = app.add_task("pay", "ana")
    app.advance()
    assert app.get_task(task["task_id"])["status"] == "running"
    app.advance(minutes=10)
    told = app.get_task(task["task_id"])
    assert (told["status"], told["attempts"]) == ("succeeded", 2)
    assert wallets.get("ana")["coins"] == 10


@pytest.mark.parametrize(
    ("point", "called", "applied"),
    [
        (CrashPoint.STARTED, 1, True),
        (CrashPoint.COMMITTING, 2, True),
        (CrashPoint.COMMITTED, 2, False),
        (CrashPoint.RETURNED, 2, False),
    ],
)
def test_a_crash_is_where_it_was_planned(app, wallets, point, called, applied):
    app.crash_next(point)
    app.add_task("pay", "ana")
    app.advance(minutes=10)
    assert len(app.attempts()) == called
    assert app.ran()[0]["result"] is applied


def test_a_job_that_is_not_idempotent_is_found_out(app):
    coins = []
    app.job("pay")(lambda payload, run: coins.append(10))
    app.crash_next(CrashPoint.RETURNED)
    app.add_task("pay")
    app.advance(minutes=10)
    assert coins == [10, 10]


def test_a_crash_in_the_middle_passes_by_what_the_job_catches(app):
    @app.job("careful")
    def careful(payload, run):
        try:
            if run.attempt == 1:
                app.crash()
        except Exception:  # noqa: BLE001 - as such jobs do
            return "caught"
        return "whole"

    app.add_task("careful")
    app.advance(minutes=10)
    assert starts(app) == [0, VISIBLE_AGAIN]
    assert app.ran()[0]["result"] == "whole"


def test_crashes_spend_attempts_until_the_run_is_dead(app, wallets):
    for _ in range(2):
        app.crash_next(CrashPoint.STARTED)
    task = app.add_task("pay", "ana", max_attempts=2)
    app.advance(hours=1)
    assert app.get_task(task["task_id"])["status"] == "dead"
    assert wallets.get("ana") is None
    assert [one["task_id"] for one in app.list_dead()] == [task["task_id"]]


def test_a_job_that_is_over_its_time_out_is_ended_and_comes_again(app):
    @app.job("hangs")
    def hangs(payload, run):
        if run.attempt == 1:
            app.advance(seconds=60)
        return run.attempt

    app.add_task("hangs")
    app.advance(hours=1)
    assert starts(app) == [0, VISIBLE_AGAIN]
    assert app.ran()[0]["result"] == 2


def test_a_run_that_crashed_keeps_its_schedule_waiting_no_longer_than_itself(app):
    app.job("one_at_a_time")(lambda payload, run: None)
    app.crash_next(CrashPoint.RETURNED)
    app.put_schedule("busy", "one_at_a_time", "rate(1 minute)", overlap="skip")
    app.advance(minutes=5)
    told = app.explain_schedule("busy", BEGIN, app.now)["times"]
    assert [time["status"] for time in told] == ["retrying", "skipped", "succeeded", "succeeded"]


# --- duplicates


def test_a_message_that_is_delivered_twice_runs_once(app, wallets):
    app.deliver_twice()
    task = app.add_task("pay", "ana")
    app.advance(hours=1)
    assert len(app.attempts()) == 1
    assert app.get_task(task["task_id"])["attempts"] == 1


def test_delivered_twice_a_failed_attempt_is_followed_at_once(app):
    @app.job("fails")
    def fails(payload, run):
        raise ValueError("no")

    app.deliver_twice()
    app.add_task("fails", max_attempts=2)
    app.advance()
    assert starts(app) == [0, 0]


# --- tables


def test_a_table_is_the_same_each_time_it_is_asked_for(app, wallets):
    assert app.table("wallets") is wallets


def test_a_new_table_needs_the_name_of_its_key(app):
    with pytest.raises(ValueError, match=r"table\('orders', 'id'\)"):
        app.table("orders")


def test_a_table_that_is_not_there_is_told_with_what_makes_it(app):
    @app.job("writes")
    def writes(payload, run):
        with run.once("w22") as tx:
            tx.put("orders", {"id": "17"})

    app.add_task("writes", max_attempts=1)
    app.advance()
    assert "minutero_app.table('orders'," in app.ran()[0]["error"]


# --- idle ticks


def life(app, seed):
    """Four days with tasks and schedules of all kinds; who ran when, and how far the deployment has come."""
    chance = random.Random(seed)

    @app.job("moody")
    def moody(payload, run):
        if payload == run.attempt:
            raise ValueError("moody")

    app.put_schedule("rare", "moody", "cron(17 3 ? * FRI *)")
    app.put_schedule("often", "moody", f"rate({chance.randint(1, 5)} hours)", jitter_seconds=600)
    for _ in range(30):
        app.add_task("moody", chance.randint(1, 4), delay_seconds=chance.randint(0, 86_400 * 2))
        app.advance(minutes=chance.choice([0, 0, 1, 7, 90]), seconds=chance.randint(0, 59))
    app.pause_schedule("often")
    app.advance(hours=7)
    app.resume_schedule("often")
    app.advance(days=2)
    ran = [(one.payload, one.started_at, one.run.attempt) for one in app.attempts()]
    return ran, app.stats()


@pytest.mark.parametrize("seed", range(2))
def test_the_ticks_passed_over_would_have_done_nothing(monkeypatch, seed):
    with MinuteroApp() as app:
        passed_over = life(app, seed)
    monkeypatch.setattr(Clockwork, "_next_tick", lambda clockwork: clockwork._ticked + MINUTE)
    with MinuteroApp() as app:
        each_minute = life(app, seed)
    assert len(passed_over[0]) > 50
    assert passed_over == each_minute


def test_a_year_without_a_task_takes_no_tick(app, monkeypatch):
    monkeypatch.setattr(Clockwork, "_tick", lambda clockwork: pytest.fail("there is nothing to do"))
    app.advance(days=365)
    assert app.now == BEGIN + timedelta(days=365)
    assert app.stats()["watermark"]["lag_seconds"] == VISIBLE_AGAIN
