"""The example from the field: closes a weekly leaderboard, pays its winners and tells of it, once a week.

Its items lie in one table, by `id`: `board#2026-W22` with `scores`, `wallet#ana` with `coins`,
`notification#2026-W22#ana`, `section#announcements`, `thread#2026-W22`. The parameter LeaderboardExample
makes it.

    minutero schedules put weekly-leaderboard leaderboard_close "cron(0 18 ? * FRI *)" \
        --timezone America/Mexico_City
"""

import os
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

from minutero import PermanentFailure, Run, job

ZONE = ZoneInfo("America/Mexico_City")
PLACES = 3
PRIZE = 10
SECTION = "announcements"


@job("leaderboard_close", result_required=True)
def close(payload: Any, run: Run) -> dict[str, Any]:
    """Closes the board of the week in which it was scheduled, in the players' own zone."""
    week = week_of(run.scheduled_for)
    # Reads come before the block. What was read is held by a condition in it.
    board = read(f"board#{week}")
    if board is None:
        run.skip(f"nobody played in {week}")
    winners = best(board["scores"])
    name = table_name()
    with run.once(week) as tx:
        tx.update(
            name,
            {"id": f"board#{week}"},
            "SET winners = :winners",
            condition="scores = :scores",
            values={":winners": winners, ":scores": board["scores"]},
        )
        for place, who in enumerate(winners, 1):
            text = f"Place {place} in {week}: {PRIZE} coins."
            tx.put(name, {"id": f"notification#{week}#{who}", "text": text})
            tx.update(name, {"id": f"wallet#{who}"}, "ADD coins :prize", values={":prize": PRIZE})
        # Without its section the summary would be nowhere: then nobody is paid either, and the run fails.
        tx.check(name, {"id": f"section#{SECTION}"}, condition="attribute_exists(id)")
        summary = f"The winners of {week}: {', '.join(winners)}."
        tx.put(name, {"id": f"thread#{week}", "section": SECTION, "text": summary})
    return {"week": week, "winners": winners, "applied": tx.applied}


def week_of(at: datetime) -> str:
    """The ISO week of an instant where the players live: `2026-W22`."""
    year, week, _ = at.astimezone(ZONE).isocalendar()
    return f"{year}-W{week:02}"


def best(scores: Mapping[str, Any]) -> list[str]:
    """The first three by score; by name where they are equal, so that every attempt names the same."""
    return sorted(scores, key=lambda who: (-scores[who], who))[:PLACES]


def read(item_id: str) -> dict[str, Any] | None:
    """An item as it is now."""
    found: dict[str, Any] | None = (
        table().get_item(Key={"id": item_id}, ConsistentRead=True).get("Item")
    )
    return found


def table_name() -> str:
    """Set by the template where the example is deployed."""
    name = os.environ.get("LEADERBOARD_TABLE")
    if not name:
        raise PermanentFailure("there is no leaderboard; deploy with LeaderboardExample=true")
    return name


@cache
def table() -> Any:
    """Opened by the first run, since importing a job opens no client."""
    name = table_name()
    import boto3  # noqa: PLC0415 - see above

    return boto3.resource("dynamodb").Table(name)
