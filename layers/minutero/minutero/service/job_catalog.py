"""Which jobs are deployed, as a writer sees it."""

from collections.abc import Callable
from threading import Lock

from minutero.domain.instants import MINUTE, SECOND
from minutero.errors import JobsUnknown
from minutero.ports import SettingsStore

ASK_AGAIN_AFTER = 5 * SECOND


class JobCatalog:
    """The names the worker announced, read at most once a minute; an unknown name is looked up afresh.

    `ask_worker` makes the worker announce its jobs now. It is only called for a name that is not known, so
    that a broken worker keeps nobody from adding tasks, and at most every 5 s, so that a client which sends
    unknown names does not keep the worker busy. Who comes meanwhile waits for the answer.
    """

    def __init__(
        self, settings: SettingsStore, ask_worker: Callable[[], None] | None = None
    ) -> None:
        self._settings = settings
        self._ask_worker = ask_worker
        self._names: frozenset[str] | None = None
        self._read_at = 0
        self._asked_at = 0
        self._asking = Lock()

    def has(self, job: str, now: int) -> bool:
        """True when the job is deployed. Raises as `names` does."""
        return job in self.names(now) or job in self._fresh_names(now)

    def names(self, now: int) -> frozenset[str]:
        """Names of the deployed jobs. Raises JobsUnknown while no worker has ever told them: it may still be
        starting, and then nobody's job is to be refused."""
        if not self._names or now - self._read_at >= MINUTE:
            self._read(now)
        names = self._names or self._fresh_names(now)
        if self._names is None:
            raise JobsUnknown
        return names

    def _fresh_names(self, now: int) -> frozenset[str]:
        with self._asking:
            if self._ask_worker is not None and now - self._asked_at >= ASK_AGAIN_AFTER:
                self._asked_at = now
                self._ask_worker()
                self._read(now)
            return self._names or frozenset()

    def _read(self, now: int) -> None:
        self._names, self._read_at = self._settings.jobs(), now
