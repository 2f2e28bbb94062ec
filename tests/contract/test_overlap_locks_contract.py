"""The locks of schedules whose runs must not overlap, over memory and DynamoDB."""

from worlds import NOW

from minutero.domain.instants import MINUTE

SOON, LATER = NOW + MINUTE, NOW + 2 * MINUTE


def test_one_run_has_the_lock_until_it_lets_it_go(world):
    take = world.locks.take
    assert take("hourly", "a", NOW, SOON)
    assert not take("hourly", "b", NOW, SOON)
    world.locks.let_go("hourly", "a")
    assert take("hourly", "b", NOW, SOON)
    assert not take("hourly", "a", NOW, SOON)


def test_each_schedule_has_a_lock_of_its_own(world):
    assert world.locks.take("hourly", "a", NOW, SOON)
    assert world.locks.take("daily", "b", NOW, SOON)


def test_who_has_it_takes_it_again_for_longer(world):
    take = world.locks.take
    assert take("hourly", "a", NOW, SOON)
    assert take("hourly", "a", NOW, LATER)
    assert not take("hourly", "b", SOON + 1, LATER)


def test_a_lock_holds_to_its_very_end_and_runs_out_after_it(world):
    take = world.locks.take
    assert take("hourly", "a", NOW, SOON)
    assert not take("hourly", "b", SOON, LATER)
    assert take("hourly", "b", SOON + 1, LATER)


def test_who_lost_it_cannot_let_it_go(world):
    take = world.locks.take
    assert take("hourly", "a", NOW, SOON)
    assert take("hourly", "b", SOON + 1, LATER)
    world.locks.let_go("hourly", "a")
    assert not take("hourly", "a", SOON + 1, LATER)


def test_letting_go_of_what_nobody_has_makes_nothing(world):
    world.locks.let_go("hourly", "a")
    assert world.locks.take("hourly", "b", NOW, SOON)


def test_a_lock_is_no_run(world):
    """It lies in the table of the run records."""
    world.locks.take("hourly", "a", NOW, SOON)
    assert (world.ledger.get("hourly"), world.ledger.get("a")) == (None, None)
    assert world.ledger.get_many(["hourly", "a"]) == {}


def test_a_lock_expires_when_it_has_run_out(aws_world):
    aws_world.locks.take("hourly", "a", NOW, SOON + 1)
    key = {"id": {"S": "overlap#hourly"}}
    item = aws_world.tables.client.get_item(TableName=aws_world.tables.names.runs, Key=key)["Item"]
    assert int(item["expiration"]["N"]) * 1_000 >= SOON + 1
