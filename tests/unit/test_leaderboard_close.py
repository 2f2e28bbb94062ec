"""The four attempts of the story: however it is run and whatever breaks, +10 a wallet, and one summary."""

from datetime import UTC, datetime, timedelta

import pytest
from faults import ProcessDied, loses_its_answer
from league import FRIDAY, SCORES, WEEK, WINNERS, League, load_job

from minutero.domain.instants import MINUTE, SECOND
from minutero.domain.run import Ending
from minutero.errors import PermanentFailure
from minutero.testing import MemorySlots, job_run
from minutero.transaction import Transaction

PAID = dict.fromkeys(WINNERS, 10)
NOBODY = {}


@pytest.fixture(scope="module")
def module():
    return load_job()


@pytest.fixture
def league(monkeypatch, module):
    made = League(monkeypatch, module)
    made.open_board()
    return made


@pytest.fixture
def world(league):
    return league.world


def is_closed_once(league):
    return (
        league.coins == PAID
        and list(league.threads) == [WEEK]
        and len(league.notifications) == 3
        and league.table.get(f"board#{WEEK}")["winners"] == WINNERS
    )


def is_untouched(league):
    return (league.coins, league.threads, league.notifications, league.slots) == (
        NOBODY,
        {},
        {},
        set(),
    )


def results(world, tasks):
    return [world.record(task).outcome.result for task in tasks]


def test_one_run_pays_tells_and_closes(league, world):
    task = league.add_run()
    world.work()
    assert is_closed_once(league)
    assert results(world, [task]) == [
        '{"week":"2026-W22","winners":["ana","bob","cleo"],"applied":true}'
    ]
    assert league.threads[WEEK] == "The winners of 2026-W22: ana, bob, cleo."
    assert league.notifications["2026-W22#ana"] == "Place 1 in 2026-W22: 10 coins."


# --- the first attempt of the story: three replicas at the same moment


def test_three_runs_at_once_pay_once(league, world):
    """Each reads the board while none has committed, and the first commits last."""
    tasks = [league.add_run() for _ in range(3)]
    waiting = list(tasks[1:])

    def the_others_run_first():
        if waiting:
            world.deliver(waiting.pop(0))

    league.after_read = the_others_run_first
    world.deliver(tasks[0])
    assert len(world.runs) == 3
    assert is_closed_once(league)
    assert [result.count("true") for result in results(world, tasks)] == [0, 0, 1]
    assert all(world.record(task).outcome.ending is Ending.SUCCEEDED for task in tasks)


# --- the second: staggered by a minute


def test_three_runs_a_minute_apart_pay_once(league, world):
    tasks = []
    for _ in range(3):
        tasks.append(league.add_run())
        world.work()
        world.clock.advance(MINUTE)
    assert is_closed_once(league)
    assert [result.count("true") for result in results(world, tasks)] == [1, 0, 0]


# --- the third: a crash after the coins


@pytest.mark.parametrize("after", range(1, 10))
def test_a_crash_in_the_body_leaves_nothing_and_the_next_attempt_pays(
    league, world, monkeypatch, after
):
    task, made = league.add_run(), []
    real = Transaction._add

    def dies_at(self, *args):
        real(self, *args)
        made.append(args)
        if len(made) == after:
            raise ProcessDied

    monkeypatch.setattr(Transaction, "_add", dies_at)
    with pytest.raises(ProcessDied):
        world.work()
    assert is_untouched(league)
    monkeypatch.setattr(Transaction, "_add", real)
    world.clock.advance(world.timing.worker_timeout + 31 * SECOND)
    world.deliver(task)
    assert is_closed_once(league)


def test_a_crash_after_the_commit_pays_no_second_time(league, world):
    def dies(real, *args):
        raise ProcessDied

    task = league.add_run()
    world.ledger.next("finish", dies)
    with pytest.raises(ProcessDied):
        world.work()
    assert is_closed_once(league)
    world.clock.advance(world.timing.worker_timeout + 31 * SECOND)
    world.deliver(task)
    assert is_closed_once(league)
    assert world.record(task).attempts == 2
    assert results(world, [task])[0].endswith('"applied":false}')


def test_a_commit_whose_answer_is_lost_pays_no_second_time(league, world):
    task = league.add_run()
    world.slots.next("take", loses_its_answer)
    world.work()
    assert world.record(task).failures[0].error.startswith("Unavailable")
    world.play(1)
    assert is_closed_once(league)
    assert world.record(task).outcome.ending is Ending.SUCCEEDED


# --- the fourth: a renamed section


def test_a_renamed_section_fails_loudly_and_leaves_the_slot_free(league, world):
    task = league.add_run(max_attempts=2)
    league.rename_section()
    world.play(1)
    assert is_untouched(league)
    assert world.record(task).outcome.ending is Ending.DEAD
    assert "section#announcements" in world.record(task).outcome.reason
    assert "there is no such item" in world.record(task).outcome.reason
    assert [message.pointer.task_id for message in world.dead] == [task.task_id]

    league.restore_section()
    world.bury_message(world.dead[0].pointer)
    world.move.redrive(task.task_id)
    world.play(1)
    assert is_closed_once(league)


def test_a_section_that_comes_back_between_two_attempts_is_enough(league, world):
    league.add_run()
    league.rename_section()
    world.work()
    league.restore_section()
    world.play(1)
    assert is_closed_once(league)


# --- what else


def test_scores_that_change_while_it_runs_are_read_again(league, world):
    def late_points():
        league.after_read = lambda: None
        league.open_board(scores={**SCORES, "dora": 500})

    task = league.add_run()
    league.after_read = late_points
    world.play(1)
    assert league.coins == dict.fromkeys(["dora", "ana", "bob"], 10)
    assert "board#2026-W22" in world.record(task).failures[0].error


def test_a_week_without_a_board_is_skipped(league, world):
    league.table.rows.pop((f"board#{WEEK}",))
    task = league.add_run()
    world.work()
    assert world.record(task).outcome.ending is Ending.SKIPPED
    assert is_untouched(league)


def test_without_its_table_it_is_dead_at_once(module, monkeypatch):
    monkeypatch.delenv("LEADERBOARD_TABLE", raising=False)
    module.table.cache_clear()
    with pytest.raises(PermanentFailure, match="LeaderboardExample=true"):
        module.close(None, job_run("leaderboard_close"))


@pytest.mark.parametrize(
    ("at", "week"),
    [
        ("2026-05-29T18:00", "2026-W22"),
        ("2026-05-31T23:59", "2026-W22"),
        ("2026-06-01T00:00", "2026-W23"),
        ("2026-12-31T18:00", "2026-W53"),
        ("2027-01-01T18:00", "2026-W53"),
        ("2027-01-04T00:00", "2027-W01"),
    ],
)
def test_the_week_is_the_iso_week_where_the_players_live(module, at, week):
    local = datetime.fromisoformat(f"{at}-06:00")
    assert module.week_of(local.astimezone(UTC)) == week


def test_a_job_can_be_tested_without_a_worker(league, module):
    """As docs/jobs.md shows it."""
    slots = MemorySlots(league=league.table)
    friday = datetime.fromtimestamp(FRIDAY / 1000, UTC)
    first, second = (
        module.close(None, job_run("leaderboard_close", slots, scheduled_for=friday))
        for _ in range(2)
    )
    assert (first["applied"], second["applied"]) == (True, False)
    later = job_run("leaderboard_close", slots, scheduled_for=friday + timedelta(weeks=1))
    league.open_board("2026-W23")
    assert module.close(None, later)["applied"]
    assert league.coins == dict.fromkeys(WINNERS, 20)
