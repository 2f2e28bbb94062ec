"""The weekly leaderboard in a world in memory: its players, its weeks, and the job that closes them."""

import importlib.util
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

from world import World

from minutero.domain.instants import parse_instant
from minutero.testing import MemoryTable

FRIDAY = parse_instant("2026-05-30T00:00:00Z")
"""Friday the 29th, 18:00 in Mexico City, in the ISO week 2026-W22."""

WEEK = "2026-W22"
SCORES = {"ana": 120, "bob": 90, "cleo": 90, "dora": 20}
WINNERS = ["ana", "bob", "cleo"]
SECTION = "section#announcements"
JOB = Path(__file__).parents[2] / "functions/worker/jobs/leaderboard_close.py"


def load_job():
    """The job's module, as new."""
    spec = importlib.util.spec_from_file_location("league_leaderboard_close", JOB)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class League:
    """`table` is the leaderboard's; `world` runs the job. `after_read` is called after each read."""

    def __init__(self, monkeypatch, module, now=FRIDAY):
        self.world = World(now=now)
        self.table = self.world.memory.slots.tables["league"] = MemoryTable("id")
        self.module = module
        self.after_read = lambda: None
        monkeypatch.setenv("LEADERBOARD_TABLE", "league")
        monkeypatch.setattr(module, "table", lambda: SimpleNamespace(get_item=self._get_item))
        self.world.job("leaderboard_close", module.close, result_required=True)
        self.table.put(id=SECTION, title="Announcements")

    def _get_item(self, Key, ConsistentRead):  # noqa: N803 - boto3's names
        assert ConsistentRead
        item = self.table.get(Key["id"])
        self.after_read()
        return {"Item": item} if item else {}

    def open_board(self, week=WEEK, scores=None):
        self.table.put(id=f"board#{week}", scores=scores or SCORES)

    def add_run(self, **more):
        """One replica's task, due now."""
        return self.world.add("leaderboard_close", **more)

    def rename_section(self):
        self.table.rows.pop((SECTION,), None)
        self.table.put(id="section#news", title="News")

    def restore_section(self):
        self.table.rows.pop(("section#news",), None)
        self.table.put(id=SECTION, title="Announcements")

    @property
    def slots(self):
        """The weeks that are taken."""
        return {slot.key for slot in self.world.memory.slots.taken.values()}

    @property
    def coins(self):
        """What each wallet that there is holds."""
        return self._by("wallet#", lambda item: item["coins"])

    @property
    def threads(self):
        return self._by("thread#", lambda item: item["text"])

    @property
    def notifications(self):
        return self._by("notification#", lambda item: item["text"])

    def _by(self, prefix, told):
        return {
            item["id"].removeprefix(prefix): told(item)
            for item in self.table.items()
            if item["id"].startswith(prefix)
        }


def week_at(ms):
    """The ISO week of an instant in Mexico City, told apart from the job's own reckoning."""
    return datetime.fromtimestamp(ms / 1000 - 6 * 3600, UTC).strftime("%G-W%V")
