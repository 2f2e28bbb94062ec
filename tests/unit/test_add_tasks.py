import pytest
from faults import answers_unknown, is_down, loses_its_answer, refuses_all
from world import NOW

from minutero.domain.exchanged import Sent
from minutero.domain.instants import HOUR, MINUTE, SECOND
from minutero.domain.new_task import NewTask
from minutero.domain.task import State
from minutero.errors import InvalidInput, KeyConflict, Unavailable, UnknownJob
from minutero.service.add_task import Added
from minutero.service.add_tasks import AddTasks, Wanted
from minutero.service.job_catalog import JobCatalog
from minutero.testing.memory import one_by_one


@pytest.fixture
def add(world):
    """Adds tasks; what became of each."""

    def call(*wanted):
        service = AddTasks(world.add_task, world.store, one_by_one, world.clock)
        return service([one if isinstance(one, Wanted) else Wanted(one, "") for one in wanted])

    return call


def due(after, **more):
    return NewTask("echo", run_at=NOW + after, **more)


def test_tasks_without_a_key_are_stored_in_batches_of_25(world, add):
    ends = add(*[due(HOUR, payload=str(n)) for n in range(60)])
    assert [world.stored(end.task).payload for end in ends] == [str(n) for n in range(60)]
    assert [len(tasks) for (tasks,) in world.store.called("put_many")] == [25, 25, 10]
    assert all(end.created for end in ends)
    assert len(world.queue) == 0


def test_near_tasks_of_a_batch_are_sent_ten_at_a_time_and_claimed_together(world, add):
    ends = add(*[due(n * SECOND + 1) for n in range(24)], due(HOUR))
    assert [len(messages) for (messages,) in world.queue.called("send")] == [10, 10, 4]
    assert [message.delay for message in world.waiting()] == list(range(1, 25))
    assert len(world.store.called("claim")) == 1
    states = [world.stored(end.task).state for end in ends]
    assert states == [State.CLAIMED] * 24 + [State.SCHEDULED]
    world.play(1)
    assert sorted(at for _, _, at in world.runs) == [NOW + n * SECOND for n in range(1, 25)]


@pytest.mark.parametrize("fault", [is_down, loses_its_answer, refuses_all])
def test_near_tasks_whose_send_failed_are_sent_by_the_next_tick_and_run_once(world, add, fault):
    world.queue.next("send", fault)
    ends = add(*[due(30 * SECOND) for _ in range(3)])
    assert all(isinstance(end, Added) for end in ends)
    world.clock.advance(5 * SECOND)
    world.play(1)
    assert sorted(task_id for task_id, _, _ in world.runs) == sorted(
        end.task.task_id for end in ends
    )


def test_what_the_queue_did_not_take_of_a_batch_stays_scheduled(world, add):
    world.queue.next("send", lambda real, messages: [Sent.SENT, Sent.FAILED, Sent.SENT])
    ends = add(*[due(MINUTE) for _ in range(3)])
    assert [world.stored(end.task).state for end in ends] == [
        State.CLAIMED,
        State.SCHEDULED,
        State.CLAIMED,
    ]


def test_a_claim_without_an_answer_after_the_send_makes_no_second_run(world, add):
    world.store.next("claim", answers_unknown)
    (end,) = add(due(SECOND))
    assert world.stored(end.task).state is State.SCHEDULED
    world.play(2)
    assert [task_id for task_id, _, _ in world.runs] == [end.task.task_id]


def test_a_task_that_is_refused_spoils_no_other(world, add):
    far = due(4_000 * 24 * HOUR)
    ends = add(due(HOUR), NewTask("ecko"), far, due(HOUR))
    assert [type(end) for end in ends] == [Added, UnknownJob, InvalidInput, Added]
    (tasks,) = world.store.called("put_many")[0]
    assert len(tasks) == 2


def test_a_batch_without_an_answer_is_told_as_unknown_and_the_others_are_stored(world, add):
    world.store.next("put_many", lambda real, tasks: [False] * len(tasks))
    ends = add(*[due(HOUR) for _ in range(30)])
    assert [type(end) for end in ends] == [Unavailable] * 25 + [Added] * 5


def test_what_is_not_known_to_be_stored_is_not_sent(world, add):
    world.store.next("put_many", lambda real, tasks: [False] * len(tasks))
    add(due(SECOND))
    assert len(world.queue) == 0


def test_one_key_twice_in_a_batch_makes_one_task_and_another_body_is_a_conflict(world, add):
    first, again, other, elsewhere = add(
        Wanted(due(HOUR, key="k"), "a"),
        Wanted(due(HOUR, key="k"), "a"),
        Wanted(due(HOUR, key="k"), "b"),
        Wanted(due(HOUR, key="k", tenant="acme"), "b"),
    )
    assert (first.created, again.created, elsewhere.created) == (True, False, True)
    assert again.task.task_id == first.task.task_id
    assert isinstance(other, KeyConflict)
    assert elsewhere.task.task_id != first.task.task_id


def test_tasks_with_keys_of_their_own_are_stored_in_batches_of_25(world, add):
    ends = add(*[due(HOUR, payload=str(n), key=f"k{n}") for n in range(60)])
    assert [world.stored(end.task).payload for end in ends] == [str(n) for n in range(60)]
    assert [len(pairs) for pairs, _ in world.store.called("put_many_keyed")] == [25, 25, 10]
    assert all(end.created for end in ends)


def test_tasks_that_were_there_are_read_together_and_told_as_they_are(world, add):
    wanted = [Wanted(due(HOUR, key=f"k{n}"), "a") for n in range(20)]
    before = add(*wanted)
    moved = before[7].task
    world.move.reschedule(moved.task_id, lambda now: now + 2 * HOUR)
    reads = len(world.store.called("get")), len(world.store.called("get_many"))
    again = add(*wanted)
    assert [end.created for end in again] == [False] * 20
    assert [end.task.task_id for end in again] == [end.task.task_id for end in before]
    assert again[7].task.run_at == NOW + 2 * HOUR
    # The address of the one that was moved, and where it lies now.
    assert len(world.store.called("get")) - reads[0] == 2
    assert len(world.store.called("get_many")) - reads[1] == 1


def test_near_tasks_with_keys_are_sent_together_and_only_those_that_were_made(world, add):
    add(due(SECOND, key="k3"))
    ends = add(*[due(SECOND, key=f"k{n}") for n in range(12)])
    assert [end.created for end in ends] == [n != 3 for n in range(12)]
    assert [len(messages) for (messages,) in world.queue.called("send")] == [1, 10, 1]
    world.play(1)
    assert len(world.runs) == 12


def test_of_a_batch_with_keys_and_without_an_answer_nothing_is_sent_and_all_can_be_asked_for_again(
    world, add
):
    wanted = [Wanted(due(SECOND, key=f"k{n}"), "a") for n in range(30)]
    world.store.next("put_many_keyed", loses_its_answer)
    ends = add(*wanted)
    assert [type(end) for end in ends] == [Unavailable] * 25 + [Added] * 5
    assert len(world.queue) == 5
    again = add(*wanted)
    assert [end.created for end in again] == [False] * 30
    world.play(2)
    assert len({task_id for task_id, _, _ in world.runs}) == len(world.runs) == 30


def test_a_task_with_a_key_that_is_refused_spoils_no_other(world, add):
    add(Wanted(due(HOUR, key="taken"), "a"))
    far = due(4_000 * 24 * HOUR, key="far")
    ends = add(
        Wanted(due(HOUR, key="a"), "a"),
        Wanted(NewTask("ecko", key="b"), "a"),
        Wanted(far, "a"),
        Wanted(due(HOUR, key="taken"), "other"),
        Wanted(due(HOUR, key="c"), "a"),
    )
    assert [type(end) for end in ends] == [Added, UnknownJob, InvalidInput, KeyConflict, Added]


@pytest.mark.parametrize("key", ["", "k{}"])
def test_a_worker_that_is_slow_to_tell_its_jobs_is_waited_for_once(world, key):
    """Asked for each task of a batch, it would take longer than the API has."""
    begun = world.clock.now()
    world.catalog = JobCatalog(world.settings, lambda: world.clock.advance(7 * SECOND))
    service = AddTasks(world.add_task, world.store, one_by_one, world.clock, 5 * SECOND)
    ends = service([Wanted(NewTask("ecko", key=key.format(n)), "") for n in range(60)])
    assert [type(end) for end in ends] == [UnknownJob] + [Unavailable] * 59
    assert world.clock.now() - begun == 7 * SECOND


@pytest.mark.parametrize("key", ["", "k{}"])
def test_a_store_that_does_not_tell_the_jobs_is_asked_once_a_task(world, key):
    world.settings.always("jobs", is_down)
    service = AddTasks(world.add_task, world.store, one_by_one, world.clock)
    ends = service([Wanted(due(HOUR, key=key.format(n)), "") for n in range(3)])
    assert [type(end) for end in ends] == [Unavailable] * 3
    assert len(world.settings.called("jobs")) == 3


@pytest.mark.parametrize("key", ["", "k{}", "one for all"])
def test_what_there_was_no_time_for_is_told_and_can_be_asked_for_again(world, key):
    service = AddTasks(world.add_task, world.store, one_by_one, world.clock, 5 * SECOND)
    wanted = [Wanted(due(HOUR, key=key.format(n)), "") for n in range(60)]

    def slow(real, *args):
        world.clock.advance(3 * SECOND)
        return real(*args)

    for method in ("put_many", "put_keyed", "put_many_keyed"):
        world.store.always(method, slow)
    ends = service(wanted)
    made = [isinstance(end, Added) for end in ends]
    assert made == [True] * sum(made) + [False] * (60 - sum(made))
    assert sum(made) == (2 if key == "one for all" else 50)
    assert {type(end) for end in ends[sum(made) :]} == {Unavailable}
    world.store.heal()
    if key:
        again = service(wanted)
        first = 50 if key == "k{}" else 60
        assert [end.created for end in again] == [False] * first + [True] * (60 - first)
