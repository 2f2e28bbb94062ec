"""Rows of schedules: their size, and those of other versions or none."""

from dataclasses import replace

import pytest
from worlds import KEEP, NOW, size_of

from minutero.aws.schedule_rows import schedule_partition
from minutero.domain.exchanged import Changed, ScheduleChange
from minutero.domain.instants import DAY, MINUTE
from minutero.domain.schedule import Definition, Schedule, partition_of
from minutero.errors import Unavailable


def schedule_row(world, name):
    key = {"partition": {"S": schedule_partition(partition_of(name))}, "name": {"S": name}}
    table = world.tables.names.schedules
    return world.tables.client.get_item(TableName=table, Key=key)["Item"]


def armed(name="nightly-report", **more):
    said = Definition("leaderboard_close", "cron(0 18 ? * FRI *)", "America/Mexico_City", **more)
    made = Schedule(name, 12, said, anchor=NOW, created_at=NOW, changed_at=NOW)
    return replace(made, pending=made.link(NOW + MINUTE, NOW, 8))


def changed(before, after):
    return ScheduleChange(before, after, NOW, KEEP, NOW)


def test_a_firing_writes_less_than_a_kilobyte_whatever_the_payload(aws_world):
    links = tuple(armed().link(NOW + n * MINUTE, NOW, 8) for n in range(4))
    schedule = replace(armed(payload='"' + "x" * 9_000 + '"'), fired=links)
    aws_world.schedules.create(changed(None, schedule))
    assert size_of(schedule_row(aws_world, schedule.name)) < 1_024


def test_a_firing_and_an_edit_keep_what_a_newer_version_has_written(aws_world):
    schedule = armed()
    aws_world.schedules.create(changed(None, schedule))
    row = schedule_row(aws_world, schedule.name)
    said = row["definition"]["S"].replace("{", '{"calendar":"none",', 1)
    newer = {"colour": {"S": "red"}, "definition": {"S": said}}
    aws_world.tables.client.put_item(TableName=aws_world.tables.names.schedules, Item=row | newer)
    read = aws_world.schedules.get(schedule.name)
    assert read == schedule
    after = replace(read, pending=read.link(NOW + DAY, NOW, 8))
    assert aws_world.schedules.step(changed(read, after))
    paused = replace(after, version=13, pending=None, paused_since=NOW)
    assert aws_world.schedules.replace(changed(after, paused)) is Changed.DONE
    row = schedule_row(aws_world, schedule.name)
    assert {name: row[name] for name in newer} == newer
    assert aws_world.schedules.get(schedule.name) == paused


@pytest.mark.parametrize("name", ["version", "definition", "created_at", "anchor", "changed_at"])
def test_a_schedule_that_makes_no_sense_is_told_and_read_as_none(aws_world, caplog, name):
    sound = next(f"sound-{n}" for n in range(999) if partition_of(f"sound-{n}") == 0)
    broken = next(f"broken-{n}" for n in range(999) if partition_of(f"broken-{n}") == 0)
    for one in (sound, broken):
        aws_world.schedules.create(changed(None, armed(one)))
    row = schedule_row(aws_world, broken)
    del row[name]
    aws_world.tables.client.put_item(TableName=aws_world.tables.names.schedules, Item=row)
    assert aws_world.schedules.get(broken) is None
    assert [one.name for one in aws_world.schedules.page(0)[0]] == [sound]
    assert "unreadable schedule" in caplog.text


def test_a_row_and_another_versions_payload_are_never_taken_for_one(aws_world):
    """Both are read in one request, and an edit may come between."""
    schedule = armed(payload="1")
    aws_world.schedules.create(changed(None, schedule))
    partition = {"partition": {"S": f"payload#{schedule.name}"}, "name": {"S": "payload"}}
    other = {**partition, "payload": {"S": "2"}}
    aws_world.tables.client.put_item(TableName=aws_world.tables.names.schedules, Item=other)
    with pytest.raises(Unavailable):
        aws_world.schedules.get(schedule.name)
