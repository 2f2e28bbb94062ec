"""What is told about a deployment as a whole, in HTTP and by the Python client alike."""

from dataclasses import asdict
from typing import Any

from minutero.domain.instants import SECOND, format_instant
from minutero.domain.lifecycle import Status
from minutero.domain.zones import ZONES_VERSION
from minutero.http.history import history_answer
from minutero.service.backlog import by_minute
from minutero.service.read_stats import Stats
from minutero.service.read_task import TaskView


def stats_answer(stats: Stats) -> dict[str, Any]:
    """The numbers of a deployment."""
    watermark = stats.watermark
    return {
        "now": format_instant(stats.now),
        "shards": stats.shards,
        "watermark": {
            "oldest": None if watermark is None else format_instant(watermark),
            "lag_seconds": None if watermark is None else (stats.now - watermark) // SECOND,
        },
        "queue": asdict(stats.queue),
        "dead_letter_queue": asdict(stats.dead_letter_queue),
        "backlog": {
            "from": format_instant(stats.start),
            "to": format_instant(stats.end),
            "complete": stats.complete,
            "counts": {str(status): stats.backlog.counts[status] for status in Status},
            "minutes": [
                {"at": format_instant(minute), "counts": {str(one): n for one, n in counts.items()}}
                for minute, counts in by_minute(stats.backlog)
            ],
        },
        "lateness_ms": asdict(stats.backlog.lateness),
        "overdue": _overdue(stats),
        "running": [_running(view) for view in stats.backlog.running],
        "tzdata": ZONES_VERSION,
    }


def _overdue(stats: Stats) -> dict[str, Any]:
    overdue, oldest = stats.overdue, stats.overdue.oldest
    return {
        "from": format_instant(overdue.start),
        "to": format_instant(overdue.end),
        "complete": overdue.complete,
        "task_id": oldest.task.task_id if oldest else None,
        "run_at": format_instant(oldest.task.run_at) if oldest else None,
        "age_seconds": (oldest.at - oldest.task.run_at) // SECOND if oldest else None,
    }


def _running(view: TaskView) -> dict[str, Any]:
    last = next(one for one in reversed(history_answer(view)) if one["attempt"] is not None)
    return {
        "task_id": view.task.task_id,
        "job": view.task.job,
        "attempt": last["attempt"],
        "started_at": last["at"],
    }
