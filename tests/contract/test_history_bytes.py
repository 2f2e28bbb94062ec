"""What a history adds to the items: an item is billed per started KB on every write that touches it."""

from worlds import KEEP, NOW, size_of

from minutero.aws.run_record import record_id
from minutero.domain.exchanged import Move
from minutero.domain.instants import DAY, HOUR, MINUTE
from minutero.domain.run import Ending, Outcome
from minutero.http.fields import MOST_ATTEMPTS


def item_of(world, run_id):
    found = world.tables.client.get_item(
        TableName=world.tables.names.runs, Key={"id": {"S": record_id(run_id)}}
    )
    return found["Item"]


def test_the_record_of_a_run_that_succeeds_at_once_has_room_for_a_result(aws_world, new_task):
    run_id = new_task().run_id
    aws_world.ledger.start(run_id, "0123456789abcdef", NOW, NOW + MINUTE, KEEP)
    outcome = Outcome(Ending.SUCCEEDED, '"' + "x" * 500 + '"')
    aws_world.ledger.finish(run_id, "0123456789abcdef", outcome, NOW + 1)
    assert size_of(item_of(aws_world, run_id)) < 1_024


def test_the_starts_of_a_run_are_as_many_as_its_attempts_and_small(aws_world, new_task):
    run_id = new_task().run_id
    for attempt in range(MOST_ATTEMPTS):
        now = NOW + attempt * HOUR
        aws_world.ledger.start(run_id, f"owner{attempt}", now, now + MINUTE, KEEP)
    starts = item_of(aws_world, run_id)["starts"]["NS"]
    assert len(starts) == MOST_ATTEMPTS
    assert sum(map(len, starts)) < 300


def test_what_a_move_leaves_behind_is_small(aws_world, new_task):
    task = new_task(claim_id="0123456789abcdef", claimed_at=NOW, attempts_before=3)
    aws_world.tasks.put(task)
    move = Move(task, task.moved(NOW + HOUR, NOW, DAY), "t", NOW, KEEP, NOW)
    assert aws_world.tasks.move(move) is None
    assert len(item_of(aws_world, task.run_id)["superseded"]["S"]) < 120
