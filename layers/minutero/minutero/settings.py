"""Settings of a deployment, read from the environment that template.yaml sets."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from minutero.domain.instants import DAY, MINUTE, SECOND
from minutero.domain.timing import Timing
from minutero.errors import SettingsError

PREFIX = "MINUTERO_"

NAMES = (
    "tasks_table",
    "schedules_table",
    "cursors_table",
    "runs_table",
    "tasks_queue_url",
    "dead_letter_queue_url",
    "worker_function",
    "dispatcher_function",
)
"""The settings that name resources of the deployment."""

MOST_SHARDS = 1_024
"""As template.yaml has it: a million writes a second, and far below what a task id can hold."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Names of the deployment's resources, its shard count, its times, and whether payloads may be logged."""

    tasks_table: str
    schedules_table: str
    cursors_table: str
    runs_table: str
    tasks_queue_url: str
    dead_letter_queue_url: str
    worker_function: str
    dispatcher_function: str
    shards: int
    timing: Timing
    log_payloads: bool

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str], needed: Collection[str] = NAMES
    ) -> "Settings":
        """Raises SettingsError, which names each variable that is missing or makes no sense.

        Of the names those that are `needed` must be there; the others are read as nothing where they are not.
        """
        read = _Reader(environment)
        settings = {name: read.text(name, needed=name in needed) for name in NAMES}
        shards = read.whole("shards", 8, most=MOST_SHARDS)
        look_ahead = read.whole("look_ahead_minutes", 3) * MINUTE
        worker_timeout = read.whole("worker_timeout_seconds", 60) * SECOND
        retention = read.whole("retention_days", 30) * DAY
        log_payloads = read.flag("log_payloads")
        if read.wrong:
            raise SettingsError("; ".join(read.wrong))
        timing = Timing(look_ahead=look_ahead, worker_timeout=worker_timeout, retention=retention)
        return cls(**settings, shards=shards, timing=timing, log_payloads=log_payloads)


class _Reader:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.wrong: list[str] = []

    def text(self, name: str, *, needed: bool) -> str:
        value = self._environment.get(PREFIX + name.upper(), "")
        if needed and not value:
            self.wrong.append(f"{PREFIX}{name.upper()} is not set")
        return value

    def flag(self, name: str) -> bool:
        variable = PREFIX + name.upper()
        text = self._environment.get(variable) or "false"
        if text not in ("true", "false"):
            self.wrong.append(f"{variable} must be true or false, not {text!r}")
        return text == "true"

    def whole(self, name: str, default: int, most: int = 1_000_000) -> int:
        text = self._environment.get(PREFIX + name.upper()) or str(default)
        if text.isdecimal() and 0 < int(text) <= most:
            return int(text)
        variable = PREFIX + name.upper()
        self.wrong.append(f"{variable} must be a whole number from 1 to {most}, not {text!r}")
        return default
