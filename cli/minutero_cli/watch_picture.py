"""The picture of `minutero watch`."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.text import Text

from minutero_cli.bars import legend, lines, nearest, rows
from minutero_cli.dead_view import UNREADABLE
from minutero_cli.durations import span
from minutero_cli.stats_view import depth, lateness_quantiles
from minutero_cli.task_view import clock_time
from minutero_cli.terminal import printable
from minutero_cli.watch import Look

NORMAL_LAG = 960
"""Seconds: 6 minutes are normal, and at 10 more the alarm goes off."""

FEWEST_BARS = 3
ROWS = 5
"""Of what runs and of the dead, where there is room."""


def picture(seen: Look, console: Console, pause: float | None = None) -> RenderableType:
    """Draw what was seen, as much of it as there is room for; `pause` only where it goes on."""
    parts: list[Text] = []
    if seen.error:
        again = f"; asked again every {pause:g} s" if pause else ""
        parts.append(Text(printable(seen.error) + again, "bold red"))
    if seen.stats:
        taken = sum(len(part.wrap(console, console.width)) for part in parts)
        room = console.height - taken - 1 if console.is_terminal else 100
        parts += _drawn(seen, console, room, pause)
    return Group(*parts)


def _drawn(seen: Look, console: Console, room: int, pause: float | None) -> Iterator[Text]:
    stats, ascii_only = seen.stats, console.options.ascii_only
    head = list(_head(seen, pause))
    found, now = rows(stats["backlog"]), datetime.fromisoformat(stats["now"])
    letters, more = seen.dead.get("dead") or (), bool(seen.dead.get("next_token"))
    running, dead = list(_running(stats, now)), list(_dead(letters))
    # The heads of both lists and one line of each come before the minutes that are furthest off.
    lists = 2 + min(1, len(running)) + min(1, len(dead))
    shown = nearest(found, now, max(FEWEST_BARS, min(len(found), room - len(head) - 1 - lists)))
    left = max(2, room - len(head) - 1 - len(shown) - 2)
    running = running[: min(ROWS, left // 2)]
    dead = dead[: min(ROWS, left - len(running))]
    count = (stats["backlog"].get("counts") or {}).get("running", 0)
    for line in (
        *head,
        *lines(shown, now, console.width, ascii_only=ascii_only),
        legend(ascii_only=ascii_only),
        _title(f"running now: {count}"),
        *running,
        _title(f"dead in the last hour: {len(letters)}{' and more' if more else ''}"),
        *dead,
    ):
        line.no_wrap, line.overflow = True, "ellipsis"
        yield line


def _head(seen: Look, pause: float | None) -> Iterator[Text]:
    stats = seen.stats
    line = Text.assemble(("Minutero", "bold"), f"  {printable(seen.name)}  ")
    line.append(clock_time(stats["now"]), "bold")
    line.append(f"  {stats.get('shards')} shards", "dim")
    yield line.append(f"  every {pause:g} s, Ctrl-C ends" if pause else "", "dim")
    yield _fact("queue", depth(stats.get("queue") or {}))
    yield _fact("dead-letter queue", depth(stats.get("dead_letter_queue") or {}))
    yield _settled(stats.get("watermark") or {})
    yield _overdue(stats.get("overdue") or {})
    yield _fact("lateness", lateness_quantiles(stats))
    if not stats["backlog"].get("complete", True):
        yield Text("there are more tasks than were counted", "yellow")


def _settled(watermark: dict[str, Any]) -> Text:
    lag = watermark.get("lag_seconds")
    if lag is None:
        return _fact("settled", "nothing yet: no tick has served every shard")
    told = f"up to {clock_time(watermark['oldest'])[:5]}, {span(lag * 1000)} ago"
    return _fact("settled", told, "red" if lag > NORMAL_LAG else "")


def _overdue(found: dict[str, Any]) -> Text:
    if found.get("task_id") is None:
        return _fact("overdue", "none" if found.get("complete", True) else "none seen so far")
    age = span((found.get("age_seconds") or 0) * 1000)
    return _fact("overdue", f"{found['task_id']}, for {age}", "red")


def _running(stats: dict[str, Any], now: datetime) -> Iterator[Text]:
    for one in stats.get("running") or ():
        who = printable(f"{one.get('task_id')}  {one.get('job')}")
        line = Text(f"  {who}  attempt {one.get('attempt')}")
        if one.get("started_at"):
            since = now - datetime.fromisoformat(one["started_at"])
            line.append(f"  for {span(round(since / timedelta(milliseconds=1)))}", "yellow")
        yield line


def _dead(letters: Sequence[dict[str, Any]]) -> Iterator[Text]:
    """The newest first; the API has the oldest first."""
    for one in reversed(letters):
        at = clock_time(str(one.get("died_at")))[:8]
        who = printable(f"{one.get('task_id') or UNREADABLE}  {one.get('job') or ''}")
        line = Text(f"  {at}  {who}  ")
        yield line.append(printable(str(one.get("reason"))), "red")


def _title(text: str) -> Text:
    return Text(text, "bold")


def _fact(name: str, value: str, style: str = "") -> Text:
    return Text.assemble((f"{name:19}", "dim"), (printable(value), style))
