"""The example on the deployed stack: with the worker's own rights, in as many processes as there are."""

from datetime import datetime
from zoneinfo import ZoneInfo

from minutero.domain.attribute_values import from_item, to_item

REPLICAS = 8


def week_of(told):
    """The ISO week of a task, in the zone of its players."""
    at = datetime.fromisoformat(told["run_at"]).astimezone(ZoneInfo("America/Mexico_City"))
    return f"{at:%G-W%V}"


def test_a_week_is_closed_once_whoever_tries_and_not_at_all_without_its_section(stack):
    name, dynamodb = stack.outputs["LeaderboardTableName"], stack.client("dynamodb")

    def put(**item):
        dynamodb.put_item(TableName=name, Item=to_item(item))

    def ids():
        items = dynamodb.scan(TableName=name, ConsistentRead=True)["Items"]
        return {one["id"]: one for one in map(from_item, items)}

    first = stack.add("leaderboard_close", max_attempts=1)
    assert stack.wait(first["task_id"])["status"] == "skipped"
    board = f"board#{week_of(first)}"
    put(id=board, scores={"ana": 3, "bob": 2, "cleo": 1})

    renamed = stack.wait(stack.add("leaderboard_close", max_attempts=1)["task_id"])
    assert renamed["status"] == "dead"
    assert "section#announcements" in renamed["error"]
    assert set(ids()) == {board}

    put(id="section#announcements", title="Announcements")
    tasks = [stack.add("leaderboard_close") for _ in range(REPLICAS)]
    told = [stack.wait(task["task_id"]) for task in tasks]
    assert {one["status"] for one in told} == {"succeeded"}
    assert sorted(one["result"]["applied"] for one in told) == [False] * (REPLICAS - 1) + [True]
    found = ids()
    assert [found[f"wallet#{who}"]["coins"] for who in ("ana", "bob", "cleo")] == [10, 10, 10]
    assert f"thread#{week_of(first)}" in found
