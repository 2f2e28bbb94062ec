"""The deployment in memory that users test their jobs with."""

from datetime import UTC, datetime, timedelta

import pytest

from minutero import (
    Client,
    InvalidInput,
    MinuteroError,
    PermanentFailure,
    RetryLater,
    UnknownJob,
    job,
)
from minutero.jobs import registry
from minutero.testing import MinuteroApp, clockwork
from minutero.testing.app import BEGIN


@pytest.fixture
def app():
    with MinuteroApp() as app:
        app.job("echo")(lambda payload, run: payload)
        yield app


def starts(app, job=None):
    """Seconds since the clock began at which attempts started."""
    return [(one.started_at - BEGIN).total_seconds() for one in app.attempts(job)]


# --- tasks


def test_it_is_a_client_so_code_that_takes_one_takes_it(app):
    assert isinstance(app, Client)


def test_a_task_that_is_due_now_runs_when_the_clock_is_moved_by_nothing(app):
    task = app.add_task("echo", {"a": 1})
    assert (task["status"], app.attempts()) == ("scheduled", [])
    app.advance()
    done = app.get_task(task["task_id"])
    assert (done["status"], done["result"], done["lateness_ms"]) == ("succeeded", {"a": 1}, 0)
    assert app.now == BEGIN


@pytest.mark.parametrize("seconds", [1, 179, 180, 181, 3_600, 86_400 * 400])
def test_a_task_runs_at_its_second_whether_its_writer_or_a_tick_sends_it(app, seconds):
    app.add_task("echo", delay_seconds=seconds)
    app.advance(seconds=seconds - 1)
    assert starts(app) == []
    app.advance(seconds=1)
    assert starts(app) == [seconds]


def test_what_is_due_within_a_move_runs_in_order_and_each_at_its_time(app):
    for seconds in (7_200, 60, 3_600, 61):
        app.add_task("echo", seconds, delay_seconds=seconds)
    app.advance(days=1)
    assert [one.payload for one in app.attempts()] == [60, 61, 3_600, 7_200]
    assert starts(app) == [60, 61, 3_600, 7_200]
    assert app.now == BEGIN + timedelta(days=1)


def test_an_attempt_tells_what_the_job_was_called_with(app):
    task = app.add_task("echo", [1], run_at=BEGIN + timedelta(hours=1), key="order-17")
    app.advance(hours=1)
    (attempt,) = app.attempts("echo")
    assert (attempt.job, attempt.payload, attempt.result, attempt.error) == ("echo", [1], [1], None)
    assert (attempt.run.key, attempt.run.attempt) == (task["task_id"], 1)
    assert attempt.run.run_at == BEGIN + timedelta(hours=1)


def test_the_payload_of_an_attempt_is_what_was_given_not_what_the_job_made_of_it(app):
    @app.job("eats")
    def eats(payload, run):
        payload.clear()

    app.add_task("eats", {"a": 1})
    app.advance()
    assert app.attempts("eats")[0].payload == {"a": 1}


def test_the_same_key_and_body_again_is_the_same_task_which_runs_once(app):
    first, second = (app.add_task("echo", 1, key="k") for _ in range(2))
    app.advance()
    assert first["task_id"] == second["task_id"]
    assert len(app.attempts()) == 1


@pytest.mark.parametrize(
    ("task", "error"),
    [
        ({"job": "nobody"}, UnknownJob),
        ({"job": "echo", "payload": float("nan")}, InvalidInput),
        ({"job": "echo", "delay_seconds": -1}, InvalidInput),
        ({"job": "echo", "run_at": datetime(2026, 1, 2)}, InvalidInput),  # noqa: DTZ001
        ({"job": "echo", "max_attempts": 21}, InvalidInput),
    ],
)
def test_what_the_api_refuses_is_refused(app, task, error):
    with pytest.raises(error):
        app.add_task(**task)


def test_a_cancelled_task_does_not_run(app):
    task = app.add_task("echo", delay_seconds=60)
    app.cancel_task(task["task_id"])
    app.advance(hours=1)
    assert app.attempts() == []
    assert app.get_task(task["task_id"])["status"] == "cancelled"


def test_an_entry_for_a_transaction_is_refused_with_what_to_do_instead(app):
    with pytest.raises(MinuteroError, match="use add_task here"):
        app.task_item("echo")


def test_a_job_may_add_the_next_task(app):
    @app.job("again")
    def again(payload, run):
        if payload:
            app.add_task("again", payload - 1, delay_seconds=3_600)

    app.add_task("again", 3)
    app.advance(days=1)
    assert starts(app) == [0, 3_600, 7_200, 10_800]


# --- what fails


def test_retries_come_after_2_4_8_seconds_and_so_on_until_the_attempts_are_spent(app):
    @app.job("fails")
    def fails(payload, run):
        raise ValueError("no such wallet")

    task = app.add_task("fails")
    app.advance(hours=1)
    assert starts(app) == [0, 2, 6, 14, 30]
    dead = app.get_task(task["task_id"])
    assert (dead["status"], dead["attempts"]) == ("dead", 5)
    assert dead["error"] == "ValueError: no such wallet"
    (letter,) = app.list_dead()
    assert letter["task_id"] == task["task_id"]
    assert [str(one.error) for one in app.attempts()] == ["no such wallet"] * 5


def test_a_dead_task_is_redriven_with_all_its_attempts(app):
    @app.job("fails")
    def fails(payload, run):
        raise PermanentFailure("account closed")

    task = app.add_task("fails")
    app.advance()
    app.job("fails")(lambda payload, run: "fine")
    app.redrive_task(task["task_id"])
    app.advance()
    assert app.get_task(task["task_id"])["result"] == "fine"
    assert [one.run.attempt for one in app.attempts()] == [1, 1]


@pytest.mark.parametrize("pause", [1, 60, 3_600])
def test_a_run_that_asks_for_later_comes_then(app, pause):
    @app.job("later")
    def later(payload, run):
        if run.attempt == 1:
            raise RetryLater(pause)

    app.add_task("later")
    app.advance(days=1)
    assert starts(app) == [0, pause]
    assert app.ran("later")[0]["status"] == "succeeded"


def test_a_run_may_skip_itself(app):
    app.job("skips")(lambda payload, run: run.skip("nothing to do"))
    app.add_task("skips")
    app.advance()
    (task,) = app.ran("skips")
    assert (task["status"], task["error"]) == ("skipped", "nothing to do")


def test_sys_exit_fails_the_attempt_as_in_the_worker(app):
    @app.job("leaves")
    def leaves(payload, run):
        raise SystemExit(0)

    app.add_task("leaves", max_attempts=1)
    app.advance()
    assert app.ran("leaves")[0]["status"] == "dead"


def test_what_ends_a_test_goes_through_a_job(app):
    app.job("strict")(lambda payload, run: pytest.fail("not to be called"))
    app.add_task("strict")
    with pytest.raises(pytest.fail.Exception, match="not to be called"):
        app.advance()


# --- schedules


def test_a_year_of_a_weekly_schedule_runs_each_friday_of_it(app):
    app.put_schedule("close", "echo", "cron(0 18 ? * FRI *)", timezone="America/Mexico_City")
    app.advance(days=365)
    tasks = app.ran("echo")
    assert len(tasks) == 52
    assert {task["lateness_ms"] for task in tasks} == {0}
    local = {one.run.scheduled_for.strftime("%a %H:%M") for one in app.attempts()}
    assert local == {"Sat 00:00"}  # in UTC
    told = app.explain_schedule("close", BEGIN, app.now)["times"]
    assert {time["what"] for time in told} == {"ran"}


def test_a_paused_schedule_runs_nothing_and_makes_up_for_it_when_asked(app):
    app.put_schedule("daily", "echo", "cron(0 9 * * ? *)", misfire={"policy": "all"})
    app.pause_schedule("daily")
    app.advance(days=3)
    assert app.attempts() == []
    app.resume_schedule("daily", backfill=True)
    app.advance()
    assert [one.run.is_catch_up for one in app.attempts()] == [True] * 3


def test_a_deleted_schedule_is_over(app):
    app.put_schedule("daily", "echo", "rate(1 day)")
    app.advance(days=2)
    app.delete_schedule("daily")
    app.advance(days=30)
    assert len(app.attempts()) == 2


# --- the clock


def test_the_clock_begins_where_it_is_told_to():
    with MinuteroApp("2031-05-01T00:00:00Z") as app:
        assert app.now == datetime(2031, 5, 1, tzinfo=UTC)
        app.move_to(datetime(2031, 6, 1, tzinfo=UTC))
        assert app.now == datetime(2031, 6, 1, tzinfo=UTC)


def test_the_clock_does_not_go_back(app):
    with pytest.raises(ValueError, match="time does not go back"):
        app.advance(seconds=-1)


def test_a_time_without_a_zone_is_refused(app):
    with pytest.raises(InvalidInput, match="no time zone"):
        app.move_to(datetime(2027, 1, 1))  # noqa: DTZ001


def test_a_job_takes_as_long_as_it_moves_the_clock(app):
    @app.job("slow")
    def slow(payload, run):
        before = run.remaining()
        app.advance(seconds=20)
        return before - run.remaining()

    app.add_task("slow")
    app.add_task("echo", delay_seconds=10)
    app.advance(seconds=15)
    slow_one, other = app.ran()
    assert slow_one["result"] == 20
    assert other["lateness_ms"] == 10_000
    assert app.now == BEGIN + timedelta(seconds=20)


def test_a_job_that_takes_time_and_adds_itself_at_once_runs_as_often_as_there_is_time(app):
    @app.job("chain")
    def chain(payload, run):
        app.advance(seconds=20)
        app.add_task("chain")

    app.add_task("chain")
    app.advance(seconds=50)
    assert starts(app) == [0, 20, 40]


def test_a_job_that_adds_itself_at_once_for_ever_is_told_and_does_not_hang(app, monkeypatch):
    monkeypatch.setattr(clockwork, "MOST_AT_ONCE", 20)
    app.job("endless")(lambda payload, run: app.add_task("endless"))
    app.add_task("endless")
    with pytest.raises(RuntimeError, match="does a job add a task that is due at once"):
        app.advance(days=1)


# --- jobs of one test


def test_a_job_registered_by_the_decorator_is_deployed_and_gone_with_the_block():
    with MinuteroApp() as app:

        @job("of_one_test")
        def of_one_test(payload, run):
            return "here"

        app.add_task("of_one_test")
        app.advance()
        assert app.ran()[0]["result"] == "here"
    assert registry.get("of_one_test") is None


def test_a_stand_in_takes_the_place_of_a_job_and_leaves_it_as_it_was(app):
    real = registry.get("echo")

    @app.job("echo")
    def stand_in(payload, run):
        return "instead"

    app.add_task("echo", 1)
    app.advance()
    assert app.ran()[0]["result"] == "instead"
    assert registry.get("echo") is real


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of jobs with one job in it."""
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / "jobs_of_a_user"
    folder.mkdir()
    text = "from minutero import job\n@job('of_a_folder')\ndef run(payload, run): return 1\n"
    (folder / "one.py").write_text(text)
    yield folder
    if registry.get("of_a_folder"):
        registry.remove("of_a_folder")


def test_a_folder_of_jobs_is_loaded_and_is_there_for_the_next_test_too(folder):
    for _ in range(2):
        with MinuteroApp() as app:
            assert "of_a_folder" in app.load_jobs(folder)
            app.add_task("of_a_folder")
            app.advance()
            assert app.ran("of_a_folder")[0]["result"] == 1


def test_a_folder_that_is_not_there_fails_the_test(app):
    with pytest.raises(ValueError, match=r"there is no folder .*nowhere"):
        app.load_jobs("nowhere")


def test_a_job_file_that_cannot_be_imported_fails_the_test(folder, app):
    (folder / "broken_one.py").write_text("import no_such_module_anywhere\n")
    with pytest.raises(ModuleNotFoundError, match="no_such_module_anywhere"):
        app.load_jobs(folder)
