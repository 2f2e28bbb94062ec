"""Schedules, over memory and DynamoDB: each change with its guard, and what it leaves behind."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from worlds import KEEP, NOW

from minutero.domain.exchanged import Changed, ScheduleChange
from minutero.domain.instants import DAY, HOUR, MINUTE
from minutero.domain.occurrence import Trigger
from minutero.domain.run import Ending, Outcome
from minutero.domain.schedule import (
    Definition,
    Fate,
    Link,
    Misfire,
    Schedule,
    partition_of,
    pointer_to,
)
from minutero.domain.task import State, run_id_of

RETENTION = 30 * DAY
SAID = Definition("echo", "rate(1 minute)")
SKIPPED = Outcome(Ending.SKIPPED, reason="late")
CANCELLED = Outcome(Ending.CANCELLED, reason="changed")


def a_schedule(name="every-minute", **more):
    """Enabled, its first link pending a minute from now, unless told otherwise."""
    definition = replace(SAID, **more)
    made = Schedule(name, 1, definition, anchor=NOW, created_at=NOW, changed_at=NOW)
    return replace(made, pending=made.link(NOW + MINUTE, NOW, 8))


def change_of(before, after, **more):
    return ScheduleChange(before, after, NOW, KEEP, NOW, **more)


def task_of(schedule):
    return schedule.task(schedule.pending, NOW, RETENTION)


def put(world, schedule):
    assert world.schedules.create(change_of(None, schedule, adds=task_of(schedule)))
    return schedule


def fired(schedule):
    """The change in which the pending link fires."""
    pending = schedule.pending
    after = schedule.with_fired(pending, NOW)
    after = replace(after, pending=schedule.link(pending.nominal + MINUTE, NOW, 8))
    fate = Fate("fired", pending.nominal, pending.nominal, schedule.times, pending.task_id)
    return change_of(schedule, after, adds=task_of(after), fates=[fate])


def edited(schedule, closes=(), **more):
    """The change that makes another version of it."""
    after = replace(
        schedule,
        version=schedule.version + 1,
        definition=replace(schedule.definition, **more),
        changed_at=NOW + 1,
    )
    after = replace(after, pending=after.link(NOW + HOUR, NOW, 8))
    closed = [(link, CANCELLED) for link in closes]
    return change_of(schedule, after, adds=task_of(after), closes=closed)


def stored(world, link):
    return world.tasks.get(pointer_to(link).place)


def ending(world, link):
    record = world.ledger.get(run_id_of(link.task_id, 0))
    return record.outcome if record else None


FULL = a_schedule(
    "of-everything.1_2-3",
    payload='{"a":"ñ"}',
    timezone="America/Mexico_City",
    start_at=NOW,
    end_at=NOW + DAY,
    jitter_seconds=7,
    on_gap="next",
    on_overlap="both",
    misfire=Misfire("all", 0, 17),
    overlap="queue",
    max_attempts=3,
    tenant="acme",
)
FULL = replace(
    FULL,
    fired=(Link(NOW - MINUTE, NOW - MINUTE, "one"), Link(NOW, NOW + 7, "two")),
    catch_up_until=NOW - 1,
    anchor=NOW - DAY,
)
PAUSED = replace(a_schedule("paused"), pending=None, paused_since=NOW + 1, paused_reason="a rest")


@pytest.mark.parametrize("schedule", [a_schedule(), FULL, PAUSED], ids=lambda one: one.name)
def test_a_schedule_is_read_as_it_was_put(world, schedule):
    assert world.schedules.get(schedule.name) is None
    adds = task_of(schedule) if schedule.pending else None
    assert world.schedules.create(change_of(None, schedule, adds=adds))
    assert world.schedules.get(schedule.name) == schedule
    if adds:
        assert world.tasks.get(adds.place) == adds
        assert world.tasks.page(adds.place.bucket).scheduled[0].occurrence == adds.occurrence


def test_a_large_payload_comes_with_the_schedule_and_with_its_tasks(world):
    schedule = put(world, a_schedule(payload='"' + "x" * 5_000 + '"'))
    assert world.schedules.get(schedule.name) == schedule
    assert stored(world, schedule.pending).payload == schedule.definition.payload


def test_a_name_is_one_schedules(world):
    schedule = put(world, a_schedule())
    other = replace(a_schedule(job="another"), created_at=NOW + 1)
    other = replace(other, pending=other.link(NOW + HOUR, NOW, 8))
    assert not world.schedules.create(change_of(None, other, adds=task_of(other)))
    assert world.schedules.get(schedule.name) == schedule
    assert stored(world, other.pending) is None


def test_creating_it_again_after_a_lost_answer_finds_it_done(world):
    schedule = put(world, a_schedule())
    assert world.schedules.create(change_of(None, schedule, adds=task_of(schedule)))
    assert world.schedules.get(schedule.name) == schedule


def test_a_step_leaves_the_next_link_its_task_and_the_fate(world):
    change = fired(put(world, a_schedule()))
    assert world.schedules.step(change)
    assert world.schedules.get("every-minute") == change.after
    assert stored(world, change.after.pending) == change.adds
    assert list(world.schedules.fates("every-minute", NOW, NOW + HOUR)) == list(change.fates)


def test_a_step_is_taken_once(world):
    change = fired(put(world, a_schedule()))
    world.schedules.step(change)
    assert not world.schedules.step(change)
    assert world.schedules.get("every-minute") == change.after


def test_a_step_of_a_schedule_that_was_edited_is_not_taken(world):
    schedule = put(world, a_schedule())
    edit = edited(schedule)
    world.schedules.replace(edit)
    late = fired(schedule)
    assert not world.schedules.step(late)
    assert world.schedules.get("every-minute") == edit.after
    assert stored(world, late.after.pending) is None
    assert list(world.schedules.fates("every-minute", NOW, NOW + HOUR)) == []


def test_a_step_of_one_that_was_deleted_and_put_again_is_not_taken(world):
    schedule = put(world, a_schedule())
    world.schedules.delete(change_of(schedule, None))
    again = replace(a_schedule(), created_at=NOW + 1, changed_at=NOW + 1)
    put(world, again)
    assert not world.schedules.step(fired(schedule))
    assert world.schedules.get("every-minute") == again


def test_the_end_of_a_rule_leaves_no_link_pending(world):
    schedule = put(world, a_schedule())
    after = replace(schedule.with_fired(schedule.pending, NOW), pending=None)
    assert world.schedules.step(change_of(schedule, after))
    assert world.schedules.get("every-minute") == after
    resumed = edited(after)
    assert world.schedules.replace(resumed) is Changed.DONE
    assert world.schedules.get("every-minute") == resumed.after


def test_a_link_that_is_left_out_ends_as_skipped(world):
    schedule = put(world, a_schedule())
    change = replace(fired(schedule), closes=[(schedule.pending, SKIPPED)])
    assert world.schedules.step(change)
    assert ending(world, schedule.pending) == SKIPPED
    assert stored(world, schedule.pending).state is State.CANCELLED


def test_a_link_that_is_made_up_for_is_told_so(world):
    schedule = put(world, a_schedule(overlap="skip"))
    pointer = task_of(schedule).pointer
    told = replace(pointer.occurrence, is_catch_up=True)
    made_up_for = replace(pointer, occurrence=told)
    assert world.schedules.step(replace(fired(schedule), made_up_for=made_up_for))
    assert stored(world, schedule.pending).occurrence == told
    assert told.trigger is Trigger.SCHEDULE


def test_an_edit_closes_the_links_of_the_old_version(world):
    schedule = put(world, a_schedule(payload="1"))
    step = fired(schedule)
    world.schedules.step(step)
    ahead, pending = schedule.pending, step.after.pending
    edit = replace(edited(step.after, [ahead, pending], payload="2"), forgets=[ahead.nominal])
    assert world.schedules.replace(edit) is Changed.DONE
    assert world.schedules.get("every-minute") == edit.after
    for link in (ahead, pending):
        assert (ending(world, link), stored(world, link).state) == (CANCELLED, State.CANCELLED)
    assert stored(world, edit.after.pending) == edit.adds
    assert list(world.schedules.fates("every-minute", NOW, NOW + HOUR)) == []


def test_an_edit_of_what_was_changed_meanwhile_changes_nothing(world):
    schedule = put(world, a_schedule())
    step = fired(schedule)
    world.schedules.step(step)
    edit = edited(schedule, [schedule.pending])
    assert world.schedules.replace(edit) is Changed.STALE
    assert world.schedules.delete(replace(edit, after=None, adds=None)) is Changed.STALE
    assert world.schedules.get("every-minute") == step.after
    assert (ending(world, schedule.pending), stored(world, edit.after.pending)) == (None, None)


def test_an_edit_made_again_after_a_lost_answer_changes_nothing_more(world):
    edit = edited(put(world, a_schedule()))
    assert world.schedules.replace(edit) is Changed.DONE
    assert world.schedules.replace(edit) is Changed.STALE
    assert world.schedules.get("every-minute") == edit.after


def test_a_run_that_has_started_is_not_closed(world):
    schedule = put(world, a_schedule())
    run_id = run_id_of(schedule.pending.task_id, 0)
    world.ledger.start(run_id, "worker", NOW, NOW + MINUTE, KEEP)
    edit = edited(schedule, [schedule.pending])
    gone = change_of(schedule, None, closes=edit.closes)
    assert world.schedules.replace(edit) is Changed.STARTED
    assert world.schedules.delete(gone) is Changed.STARTED
    assert world.schedules.get("every-minute") == schedule
    assert stored(world, edit.after.pending) is None


def test_a_run_whose_attempt_is_given_up_is_closed(world):
    schedule = put(world, a_schedule())
    run_id = run_id_of(schedule.pending.task_id, 0)
    world.ledger.start(run_id, "worker", NOW - HOUR, NOW - MINUTE, KEEP)
    edit = edited(schedule, [schedule.pending])
    assert world.schedules.replace(replace(edit, given_up=NOW - HOUR)) is Changed.STARTED
    assert world.schedules.replace(edit) is Changed.DONE


def test_a_task_that_is_gone_is_not_closed(world):
    schedule = put(world, a_schedule())
    nowhere = schedule.link(NOW + DAY, NOW, 8)
    assert world.schedules.replace(edited(schedule, [nowhere])) is Changed.STARTED
    assert world.schedules.get("every-minute") == schedule
    assert (stored(world, nowhere), ending(world, nowhere)) == (None, None)


def test_a_schedule_that_is_deleted_leaves_its_fates(world):
    schedule = put(world, a_schedule(payload='{"a":1}'))
    step = fired(schedule)
    world.schedules.step(step)
    gone = change_of(step.after, None, closes=[(step.after.pending, CANCELLED)])
    assert world.schedules.delete(gone) is Changed.DONE
    assert world.schedules.get("every-minute") is None
    assert ending(world, step.after.pending) == CANCELLED
    assert ending(world, schedule.pending) is None
    assert list(world.schedules.fates("every-minute", NOW, NOW + HOUR)) == list(step.fates)
    assert world.schedules.delete(gone) is Changed.STALE
    again = replace(a_schedule(), created_at=NOW + 1)
    assert world.schedules.get(put(world, again).name) == again


def test_a_payload_comes_changes_and_goes_with_edits(world):
    schedule = put(world, a_schedule())
    for payload in ('{"a":1}', '{"a":2}', None, "[]"):
        edit = edited(schedule, payload=payload)
        assert world.schedules.replace(edit) is Changed.DONE
        schedule = world.schedules.get("every-minute")
        assert schedule == edit.after
        step = fired(schedule)
        assert world.schedules.step(step)
        schedule = world.schedules.get("every-minute")
        assert schedule == step.after


def noted(world, *fates, forgets=()):
    schedule = world.schedules.get("every-minute") or put(world, a_schedule())
    change = replace(fired(schedule), fates=fates, forgets=forgets)
    assert world.schedules.step(change)


def a_fate(name, first, last=None, task_id=""):
    return Fate(name, first, first if last is None else last, a_schedule().times, task_id)


def test_fates_are_told_in_order_from_the_one_that_reaches_to_the_first_time(world):
    outage = a_fate("misfire", NOW, NOW + 10 * MINUTE)
    before, later = a_fate("fired", NOW - MINUTE, None, "x"), a_fate("paused", NOW + HOUR)
    noted(world, later, before)
    noted(world, outage)
    tell = world.schedules.fates
    assert list(tell("every-minute", NOW - DAY, NOW + DAY)) == [before, outage, later]
    assert list(tell("every-minute", NOW + 5 * MINUTE, NOW + HOUR)) == [outage, later]
    assert list(tell("every-minute", NOW + 11 * MINUTE, NOW + HOUR - 1)) == []
    assert list(tell("every-minute", NOW + HOUR, NOW)) == []
    assert list(tell("another", NOW - DAY, NOW + DAY)) == []


def test_a_fate_that_is_taken_back_is_gone_and_one_that_is_noted_anew_is_not(world):
    noted(world, a_fate("fired", NOW, None, "x"), a_fate("fired", NOW + 1, None, "y"))
    anew = a_fate("changed", NOW, NOW + 5)
    noted(world, anew, forgets=[NOW, NOW + 1])
    assert list(world.schedules.fates("every-minute", NOW - DAY, NOW + DAY)) == [anew]


def test_at_most_500_fates_are_told(world):
    for start in range(0, 540, 90):
        noted(
            world, *(a_fate("fired", NOW + n * MINUTE, None, "x") for n in range(start, start + 90))
        )
    told = world.schedules.fates("every-minute", NOW, NOW + DAY)
    assert [fate.first for fate in told] == [NOW + n * MINUTE for n in range(500)]


def test_all_schedules_are_on_the_pages_of_16_partitions(world):
    names = [f"of-{number}" for number in range(40)]
    for name in names:
        put(world, a_schedule(name, payload='"told apart"'))
    pages = [world.schedules.page(partition) for partition in range(16)]
    found = [one for schedules, _ in pages for one in schedules]
    assert sorted(one.name for one in found) == sorted(names)
    assert all(after is None for _, after in pages)
    assert found[0] == a_schedule(found[0].name)


def test_a_page_goes_on_behind_a_name(world):
    names = sorted(f"of-{number}" for number in range(2_000))
    in_one = [name for name in names if partition_of(name) == 7][:101]
    for name in in_one:
        world.schedules.create(change_of(None, replace(a_schedule(name), pending=None)))
    first, after = world.schedules.page(7)
    second, end = world.schedules.page(7, after)
    assert [one.name for one in (*first, *second)] == in_one
    assert (len(first), after, end) == (100, first[-1].name, None)


def test_of_many_who_take_the_same_step_at_once_one_does(honest_world):
    world = honest_world
    change = fired(put(world, a_schedule()))
    with ThreadPoolExecutor(16) as threads:
        taken = list(threads.map(world.schedules.step, [change] * 16))
    assert taken.count(True) == 1
    assert world.schedules.get("every-minute") == change.after
