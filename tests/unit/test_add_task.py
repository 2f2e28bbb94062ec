import pytest
from faults import ProcessDied, fails_all, is_down, loses_its_answer, process_dies, refuses_all
from world import NOW

from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND
from minutero.domain.new_task import FURTHEST, NewTask
from minutero.domain.task import State, first_place, read_task_id
from minutero.errors import InvalidInput, KeyConflict, Unavailable, UnknownJob


def test_a_task_far_ahead_is_stored_and_not_sent(world):
    task = world.add(after=3 * MINUTE + 1, payload='{"a":1}')
    assert world.stored(task) == task
    assert (task.state, task.payload) == (State.SCHEDULED, '{"a":1}')
    assert len(world.queue) == 0


def test_a_near_task_is_sent_at_once_and_marked(world):
    task = world.add(after=3 * MINUTE)
    [message] = world.waiting()
    assert (message.pointer, message.delay) == (task.pointer, 180)
    assert world.stored(task) == task
    assert (task.state, task.claimed_at) == (State.CLAIMED, NOW)


def test_a_near_task_is_never_sent_early(world):
    world.add(after=1 * SECOND + 1)
    assert world.waiting()[0].delay == 2


def test_a_task_is_stored_before_it_is_sent(world):
    """The other order would send a message of a task there is not."""
    world.queue.always("send", process_dies)
    with pytest.raises(ProcessDied):
        world.add(after=MINUTE)
    assert [args[0].state for args in world.store.called("put")] == [State.SCHEDULED]
    assert "mark_sent" not in world.store.names("mark_sent")


@pytest.mark.parametrize("fault", [is_down, loses_its_answer, fails_all, refuses_all])
def test_a_near_task_whose_send_failed_is_sent_by_the_next_tick(world, fault):
    world.queue.next("send", fault)
    task = world.add(after=30 * SECOND)
    assert task.state is State.SCHEDULED
    assert world.stored(task).state is State.SCHEDULED
    world.clock.advance(5 * SECOND)
    assert world.tick()[0].tally.sent == 1
    assert world.stored(task).state is State.CLAIMED
    world.clock.advance(25 * SECOND)
    world.work()
    assert world.runs == [(task.task_id, 1, NOW + 30 * SECOND)]


def test_a_tick_that_comes_between_send_and_mark_wins_and_the_task_runs_once(world):
    def tick_first(real, place, claim_id, at):
        world.tick()
        return real(place, claim_id, at)

    world.store.next("mark_sent", tick_first)
    task = world.add()
    assert task.state is State.SCHEDULED, "the mark has lost"
    assert world.stored(task).claim_id != "near"
    assert len(world.queue) == 2
    world.work()
    assert len(world.runs) == 1


def test_a_mark_that_is_not_answered_does_not_fail_the_request(world):
    world.store.next("mark_sent", is_down)
    task = world.add()
    assert world.stored(task).state is State.SCHEDULED
    world.tick()
    world.work()
    assert len(world.runs) == 1


def test_a_store_that_does_not_answer_fails_the_request_and_nothing_is_sent(world):
    world.store.next("put", is_down)
    with pytest.raises(Unavailable):
        world.add()
    assert len(world.queue) == 0


def test_a_time_past_means_now_and_lies_in_the_bucket_of_now(world):
    task = world.add(at=NOW - DAY)
    assert (task.run_at, task.created_at) == (NOW, NOW)
    assert task.place == first_place(task.task_id)
    assert task.place.bucket == world.bucket(NOW)
    assert world.waiting()[0].delay == 0


def test_a_task_is_kept_until_its_retention_after_its_due_time(world):
    task = world.add(after=10 * DAY)
    assert task.keep_until == (NOW + 40 * DAY) // SECOND


def test_a_time_too_far_ahead_is_refused_and_nothing_is_stored(world):
    with pytest.raises(InvalidInput):
        world.add(after=FURTHEST + 1, key="k")
    assert world.store.names("put", "put_keyed") == []


def test_an_unknown_job_is_refused_and_the_deployed_are_named(world):
    world.job("leaderboard_close", lambda payload, run: None)
    with pytest.raises(UnknownJob, match=r"'ehco'.*echo, leaderboard_close") as refused:
        world.add("ehco")
    assert (refused.value.code, refused.value.field) == ("unknown_job", "job")
    assert world.store.names("put", "put_keyed") == []


@pytest.mark.parametrize(("length", "large"), [(598, False), (599, True)])
def test_a_payload_over_600_bytes_is_stored_apart(world, length, large):
    assert world.add(payload=f'"{"x" * length}"').large is large
    assert world.waiting()[0].pointer.large is large


def test_the_size_of_a_payload_is_counted_in_bytes(world):
    assert world.add(payload=f'"{"é" * 300}"').large


def test_what_was_asked_for_is_what_is_stored(world):
    task = world.add(after=HOUR, tenant="acme", key="k", max_attempts=7, expires_after_seconds=60)
    assert world.stored(task) == task
    assert (task.tenant, task.key, task.max_attempts) == ("acme", "k", 7)
    assert task.expires_at == NOW + HOUR + 60 * SECOND


def test_tasks_are_spread_over_the_shards_there_are(world):
    world.memory.settings.grow(type(world.memory.settings.growth()[0])(4, NOW))
    shards = {read_task_id(world.add(after=HOUR).task_id)[1] for _ in range(100)}
    assert shards == {0, 1, 2, 3}


# --- keys


def add(world, key, body_hash, tenant="", **more):
    new = NewTask("echo", run_at=world.clock.now() + HOUR, key=key, tenant=tenant, **more)
    return world.add_task(new, body_hash)


def test_the_same_key_and_body_again_give_the_same_task(world):
    first = add(world, "k", "h")
    world.clock.advance(MINUTE)
    again = add(world, "k", "h")
    assert (first.created, again.created) == (True, False)
    assert again.task == first.task
    assert sum(len(items) for items in world.memory.tasks.buckets.values()) == 1


def test_a_near_task_made_before_is_not_sent_again(world):
    new = NewTask("echo", key="k")
    world.add_task(new, "h")
    world.add_task(new, "h")
    assert len(world.queue) == 1


def test_the_same_key_with_another_body_is_a_conflict_and_changes_nothing(world):
    first = add(world, "k", "h").task
    with pytest.raises(KeyConflict, match="'k'") as conflict:
        add(world, "k", "other")
    assert conflict.value.task_id == first.task_id
    assert add(world, "k", "h").task == first


def test_a_key_is_scoped_by_its_tenant(world):
    ids = {add(world, "k", "h", tenant).task.task_id for tenant in ("", "acme", "umbrella")}
    assert len(ids) == 3
    assert add(world, "k", "h", "acme").created is False


def test_tasks_without_a_key_are_never_the_same(world):
    assert add(world, "", "h").task != add(world, "", "h").task


def test_a_key_is_free_again_when_its_task_has_expired(world):
    first = add(world, "k", "h").task
    world.clock.set(first.keep_until * SECOND)
    assert add(world, "k", "h").task == first
    world.clock.advance(1)
    assert add(world, "k", "other").created


def test_a_key_outlives_the_end_of_its_task(world):
    task = world.add_task(NewTask("echo", key="k"), "h").task
    world.work()
    assert world.status(task) == "succeeded"
    assert world.add_task(NewTask("echo", key="k"), "h").task.task_id == task.task_id


def test_a_request_whose_answer_was_lost_is_made_once_with_a_key(world):
    world.store.next("put_keyed", loses_its_answer)
    with pytest.raises(Unavailable):
        add(world, "k", "h")
    again = add(world, "k", "h")
    assert again.created is False
    assert world.stored(again.task) is not None


def test_a_key_leads_to_where_its_task_was_moved(world):
    first = add(world, "k", "h").task
    moved = world.move.reschedule(first.task_id, lambda now: now + 2 * HOUR)
    assert add(world, "k", "h").task == moved


def test_a_claim_lost_by_the_mark_is_no_error(world):
    def cancelled_meanwhile(real, place, claim_id, at):
        return False

    world.store.next("mark_sent", cancelled_meanwhile)
    assert world.add().state is State.SCHEDULED
