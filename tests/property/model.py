"""What a client may rely on, as simple as it can be said: a few numbers a task."""

from dataclasses import dataclass

from minutero.domain.instants import SECOND
from minutero.domain.task import run_id_of


@dataclass(eq=False)
class ModelTask:
    """One accepted task. `due` is the latest promised time; `ending` is "" until it is over."""

    name: str
    task_id: str
    due: int
    max_attempts: int
    expires_after: int | None
    run_no: int = 0
    attempts: int = 0
    attempts_before: int = 0
    running_until: int = 0
    ending: str = ""

    def __repr__(self):
        return self.name

    @property
    def run_id(self):
        return run_id_of(self.task_id, self.run_no)

    @property
    def attempt(self):
        """The number of the attempt that started last."""
        return self.attempts_before + self.attempts

    def is_running(self, now):
        return not self.ending and self.attempts > 0 and self.running_until >= now

    def is_open(self, now):
        """Neither running nor over: it may be started, cancelled or moved."""
        return not self.ending and not self.is_running(now)

    def statuses(self, now):
        """What a client may be told. Whether a tick has come round yet is no promise."""
        if self.ending:
            return {self.ending}
        if self.is_running(now):
            return {"running"}
        return {"retrying"} if self.attempts else {"scheduled", "claimed"}

    # --- what becomes of it

    def starts(self, until):
        self.attempts += 1
        self.running_until = until

    def fails(self):
        self.running_until = 0

    def has_expired(self, now):
        """Found only when a first attempt starts."""
        return (
            self.attempt == 1
            and self.expires_after is not None
            and now > self.due + self.expires_after * SECOND
        )

    def ends(self, ending):
        self.ending = ending

    def moves(self, due, attempts_before=0):
        self.due = due
        self.run_no += 1
        self.attempts, self.attempts_before = 0, attempts_before
        self.running_until = 0
        self.ending = ""
