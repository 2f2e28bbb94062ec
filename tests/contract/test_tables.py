"""Items: their keys, their size, what they cost, and rows of other versions or none."""

import pytest
from worlds import KEEP, NOW, key_of, size_of

from minutero.aws import tables
from minutero.domain.exchanged import DeadLetter, Move
from minutero.domain.instants import DAY, MINUTE
from minutero.domain.new_task import INLINE_PAYLOAD_LIMIT
from minutero.domain.occurrence import Occurrence, Trigger
from minutero.domain.task import Place, State
from minutero.errors import Unavailable

MODELS = {
    "tasks": [
        tables.TaskItem,
        tables.PayloadItem,
        tables.KeyItem,
        tables.DeadLetterItem,
        tables.SettingsItem,
    ],
    "runs": [tables.RunItem],
    "cursors": [tables.CursorItem],
    "schedules": [tables.ScheduleItem, tables.SchedulePayloadItem, tables.FateItem],
}
PAIRS = [(table, model) for table, models in MODELS.items() for model in models]


@pytest.mark.parametrize(
    ("table", "model"), PAIRS, ids=lambda value: getattr(value, "__name__", value)
)
def test_a_models_keys_are_those_of_the_template(template_tables, table, model):
    properties, schema = template_tables[table], model._get_schema()
    keys = {key["AttributeName"]: key["KeyType"] for key in properties["KeySchema"]}
    types = {
        one["AttributeName"]: one["AttributeType"] for one in properties["AttributeDefinitions"]
    }
    assert {k["AttributeName"]: k["KeyType"] for k in schema["key_schema"]} == keys
    assert {
        one["AttributeName"]: one["AttributeType"] for one in schema["attribute_definitions"]
    } == types


@pytest.mark.parametrize(
    ("table", "model"),
    [("tasks", tables.TaskItem), ("runs", tables.RunItem), ("schedules", tables.FateItem)],
)
def test_the_template_lets_items_expire_by_the_models_attribute(template_tables, table, model):
    ttl = template_tables[table]["TimeToLiveSpecification"]
    attribute = tables.TTL_ATTRIBUTES[model]
    assert ttl == {"AttributeName": attribute, "Enabled": True}
    assert model.get_attributes()[attribute].attr_type == "N"


def test_no_other_item_of_the_schedules_table_expires():
    """A schedule that has an attribute of that name would go one day."""
    for model in (tables.ScheduleItem, tables.SchedulePayloadItem):
        assert tables.TTL_ATTRIBUTES[tables.FateItem] not in model.get_attributes()


def item_at(world, place):
    key = {"bucket": {"S": place.bucket}, "sk": {"S": place.sk}}
    answer = world.tables.client.get_item(TableName=world.tables.names.tasks, Key=key)
    return answer.get("Item")


def put_row(world, place, **attributes):
    key = {"bucket": {"S": place.bucket}, "sk": {"S": place.sk}}
    world.tables.client.put_item(TableName=world.tables.names.tasks, Item=key | attributes)


def test_a_small_task_stays_under_a_kilobyte(aws_world, new_task):
    task = new_task(
        payload='"' + "x" * (INLINE_PAYLOAD_LIMIT - 2) + '"',
        tenant="a-tenant-of-some-length",
        key="order-1234567890",
        expires_after_seconds=600,
        job="leaderboard_close",
    )
    aws_world.tasks.put(task)
    aws_world.tasks.mark_sent(task.place, "0123456789abcdef", NOW)
    assert size_of(item_at(aws_world, task.place)) < 1_024


def test_what_is_left_behind_by_a_lost_race_for_a_key_is_removed(aws_world, new_task):
    first, second = new_task(key="k"), new_task(key="k", payload="x" * 999, large=True)
    aws_world.tasks.put_keyed(first, key_of(first), NOW)
    aws_world.tasks.put_keyed(second, key_of(second), NOW)
    assert item_at(aws_world, Place(f"payload#{second.task_id}", "payload")) is None


def test_payload_and_key_follow_a_move(aws_world, new_task):
    from minutero.domain.exchanged import Move

    task = new_task(key="k", payload="x" * 999, large=True)
    aws_world.tasks.put_keyed(task, key_of(task), NOW)
    to = task.moved(NOW + 90 * DAY, NOW, 30 * DAY)
    aws_world.tasks.move(Move(task, to, "t", NOW, KEEP, NOW))
    places = [
        Place(f"payload#{task.task_id}", "payload"),
        Place("key##k", "key"),
        task.place,
        to.place,
    ]
    expiries = {item_at(aws_world, place)["expires_at"]["N"] for place in places}
    assert expiries == {str(to.keep_until)}


def test_a_moved_task_does_not_prolong_a_key_that_names_another(aws_world, new_task):
    from minutero.domain.exchanged import Move

    task, other = new_task(key="k"), new_task(key="k")
    aws_world.tasks.put(task)
    aws_world.tasks.put_keyed(other, key_of(other), NOW)
    to = task.moved(NOW + 90 * DAY, NOW, 30 * DAY)
    assert aws_world.tasks.move(Move(task, to, "t", NOW, KEEP, NOW)) is None
    assert aws_world.tasks.get_key("", "k", NOW) == key_of(other)


def test_an_item_of_a_newer_version_is_read(aws_world, new_task):
    task = new_task()
    aws_world.tasks.put(task)
    put_row(aws_world, task.place, **item_at(aws_world, task.place), colour={"S": "red"})
    assert aws_world.tasks.get(task.place) == task
    assert aws_world.tasks.get_many([task.pointer]) == {task.place: task}
    assert list(aws_world.tasks.page(task.place.bucket).scheduled) == [task.pointer]


def test_an_item_of_an_older_version_has_defaults(aws_world, new_task):
    task = new_task(created_at=0, keep_until=0)
    put_row(
        aws_world,
        task.place,
        state={"S": "scheduled"},
        job={"S": "echo"},
        run_at={"N": str(NOW)},
    )
    assert aws_world.tasks.get(task.place) == task


def test_a_state_of_a_newer_version_is_left_alone(aws_world, new_task):
    task = new_task()
    put_row(aws_world, task.place, state={"S": "paused"}, run_at={"N": "1"}, job={"S": "echo"})
    page = aws_world.tasks.page(task.place.bucket)
    assert (list(page.scheduled), list(page.unreadable)) == ([], [])


SCHEDULED = {"state": {"S": "scheduled"}, "job": {"S": "echo"}, "run_at": {"N": "1"}}
BROKEN = {
    "no due time": {"state": {"S": "scheduled"}, "job": {"S": "echo"}},
    "a due time that is text": SCHEDULED | {"run_at": {"S": "soon"}},
    "half a millisecond": SCHEDULED | {"run_at": {"N": "1.5"}},
    "no job": {"state": {"S": "scheduled"}, "run_at": {"N": "1"}},
    "a job that is no text": SCHEDULED | {"job": {"N": "1"}},
    "a tenant that is no text": SCHEDULED | {"tenant": {"N": "1"}},
    "no state": {"job": {"S": "echo"}, "run_at": {"N": "1"}},
    "a state that is no text": SCHEDULED | {"state": {"N": "1"}},
    "nothing": {},
}


BROKEN_CLAIMS = ("no state", "a state that is no text", "nothing")
ROWS = [(None, what) for what in BROKEN] + [("~00000000000001#c1", what) for what in BROKEN_CLAIMS]


@pytest.mark.parametrize(("sk", "what"), ROWS)
def test_a_row_that_makes_no_sense_is_told_and_made_dead(aws_world, new_task, sk, what):
    sound, broken = new_task(), new_task()
    place = Place(broken.place.bucket, sk or broken.place.sk)
    aws_world.tasks.put(sound)
    put_row(aws_world, place, **BROKEN[what])
    page = aws_world.tasks.page(place.bucket)
    assert list(page.scheduled) == [sound.pointer]
    assert list(page.unreadable) == [place.sk]
    aws_world.tasks.bury_unreadable(place, "cannot be read", NOW, KEEP)
    aws_world.tasks.bury_unreadable(place, "cannot be read", NOW, KEEP)
    page = aws_world.tasks.page(place.bucket)
    assert (list(page.scheduled), list(page.unreadable)) == ([sound.pointer], [])
    (letter,), _ = aws_world.tasks.page_dead("2026-11-29", 3)
    assert (letter.place, letter.reason, letter.run_id) == (place, "cannot be read", place.sk)
    assert item_at(aws_world, place)["state"] == {"S": "dead"}


@pytest.mark.parametrize("sk", ["", "07#nothing#0000", "~soon#c1", "~7#c1", "~00000000000001#"])
def test_a_sort_key_that_makes_no_sense_is_told(aws_world, sk):
    place = Place("2026-11-29T20:21Z#03", sk or "?")
    state = tables.OPEN if sk.startswith("~") else "scheduled"
    put_row(aws_world, place, **SCHEDULED | {"state": {"S": state}})
    assert list(aws_world.tasks.page(place.bucket).unreadable) == [place.sk]
    assert list(aws_world.tasks.open_claims(place.bucket)) == []
    aws_world.tasks.bury_unreadable(place, "cannot be read", NOW, KEEP)
    assert list(aws_world.tasks.page(place.bucket).unreadable) == []


def test_burying_a_row_that_is_gone_makes_none(aws_world, new_task):
    task = new_task()
    aws_world.tasks.bury_unreadable(task.place, "cannot be read", NOW, KEEP)
    assert item_at(aws_world, task.place) is None


def test_a_damaged_task_is_read_as_one_without_a_job(aws_world, new_task, caplog):
    task = new_task()
    put_row(aws_world, task.place, **SCHEDULED | {"payload": {"N": "7"}})
    (read,) = aws_world.tasks.get_many([task.pointer]).values()
    assert (read.task_id, read.job, read.state) == (task.task_id, "", State.CLAIMED)
    assert "unreadable task" in caplog.text


def test_a_task_whose_large_payload_is_gone_is_not_run(aws_world, new_task):
    task = new_task(payload="x" * 999, large=True)
    put_row(aws_world, task.place, **SCHEDULED | {"large": {"BOOL": True}})
    assert aws_world.tasks.get_many([task.pointer]) == {}
    assert aws_world.tasks.get(task.place).payload is None


def test_ending_a_task_that_is_gone_makes_none(aws_world, new_task):
    task = new_task()
    move = Move(task, task.moved(NOW + MINUTE, NOW, MINUTE), "t", NOW, KEEP, NOW)
    with pytest.raises(Unavailable):
        aws_world.tasks.cancel(task, NOW, KEEP, NOW)
    with pytest.raises(Unavailable):
        aws_world.tasks.move(move)
    letter = DeadLetter(task.run_id, task.place, "echo", "", "why", NOW, KEEP)
    assert not aws_world.tasks.bury(letter)
    assert [item_at(aws_world, place) for place in (task.place, move.to.place)] == [None, None]
    assert aws_world.ledger.get(task.run_id) is None


OCCURRENCE = Occurrence("nightly-report", 12, NOW, Trigger.MANUAL, is_catch_up=True, overlap="skip")


def test_a_small_occurrence_stays_under_a_kilobyte(aws_world, new_task):
    task = new_task(
        payload='"' + "x" * (INLINE_PAYLOAD_LIMIT - 2) + '"',
        tenant="a-tenant-of-some-length",
        job="leaderboard_close",
        occurrence=OCCURRENCE,
    )
    aws_world.tasks.put(task)
    aws_world.tasks.mark_sent(task.place, "0123456789abcdef", NOW)
    assert size_of(item_at(aws_world, task.place)) < 1_024
    assert aws_world.tasks.get(task.place).occurrence == OCCURRENCE


def test_an_occurrence_is_found_in_a_page_and_follows_a_move(aws_world, new_task):
    task = new_task(occurrence=OCCURRENCE)
    aws_world.tasks.put(task)
    (pointer,) = aws_world.tasks.page(task.place.bucket).scheduled
    assert pointer.occurrence == OCCURRENCE
    to = task.moved(NOW + MINUTE, NOW, DAY)
    aws_world.tasks.move(Move(task, to, "t", NOW, KEEP, NOW))
    assert aws_world.tasks.get(to.place).occurrence == OCCURRENCE


def test_what_a_newer_version_says_of_an_occurrence_is_passed_over(aws_world, new_task):
    task = new_task()
    newer = '{"schedule":"s","version":1,"nominal":7,"trigger":"tide","overlap":"ask","moon":[1]}'
    put_row(aws_world, task.place, **SCHEDULED | {"occurrence": {"S": newer}})
    # None is left out for its overlap, and none overlaps.
    read = Occurrence("s", 1, 7, Trigger.TASK, overlap="queue")
    assert aws_world.tasks.get(task.place).occurrence == read
    assert aws_world.tasks.page(task.place.bucket).scheduled[0].occurrence == read


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "{}", '{"schedule":"s","version":1}'])
def test_an_occurrence_that_makes_no_sense_makes_the_row_unreadable(aws_world, new_task, text):
    task = new_task()
    put_row(aws_world, task.place, **SCHEDULED | {"occurrence": {"S": text}})
    page = aws_world.tasks.page(task.place.bucket)
    assert (list(page.scheduled), list(page.unreadable)) == ([], [task.place.sk])
    assert aws_world.tasks.get(task.place).job == ""
