"""The idempotent call around a job, by Powertools' idempotency utility.

Our own persistence layer, because the DynamoDB layer of Powertools writes unfenced: a run overtaken after its
time-out could overwrite its overtaker's finished record or, by failing late, delete it.
"""

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from aws_lambda_powertools.utilities.idempotency import IdempotencyConfig, idempotent_function
from aws_lambda_powertools.utilities.idempotency.exceptions import (
    IdempotencyItemAlreadyExistsError,
    IdempotencyItemNotFoundError,
)
from aws_lambda_powertools.utilities.idempotency.persistence.base import (
    BasePersistenceLayer,
)
from aws_lambda_powertools.utilities.idempotency.persistence.datarecord import (
    STATUS_CONSTANTS,
    DataRecord,
)

from minutero.aws.json_lines import log_fields
from minutero.aws.run_record import HASH_FUNCTION, KEY_PREFIX, encode_outcome
from minutero.domain.exchanged import Failed, Finished, InProgress, Overtaken, RunResult
from minutero.domain.instants import SECOND
from minutero.domain.run import Outcome, RunRecord, short
from minutero.errors import SettingsError
from minutero.ports import Clock, RunLedger

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

Answer = TypeVar("Answer")


class PowertoolsRunOnce:
    """`RunOnce`: start in the ledger, body, finish or fail in the ledger, driven by Powertools.

    Raises Unavailable when the ledger did not answer, SettingsError when Powertools' idempotency is
    switched off by POWERTOOLS_IDEMPOTENCY_DISABLED.
    """

    def __init__(self, ledger: RunLedger, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock

    def __call__(
        self, run_id: str, until: int, keep_until: int, body: Callable[[int], Outcome], /
    ) -> RunResult:
        """One call. `until`: when the attempt counts as given up, in milliseconds; `keep_until`: seconds."""
        call = _Call(self._ledger, self._clock, run_id, until, keep_until, body)
        config = IdempotencyConfig(
            raise_on_no_idempotency_key=True,
            hash_function=HASH_FUNCTION,
            expires_after_seconds=max(1, keep_until - self._clock.now() // SECOND),
        )
        config.register_lambda_context(cast("LambdaContext", _Deadline(until, self._clock)))
        run: Callable[..., Any] = idempotent_function(
            call.attempt,
            data_keyword_argument="run_id",
            persistence_store=call,
            config=config,
            key_prefix=KEY_PREFIX,
        )
        try:
            run(run_id=run_id)
        except Exception as error:  # noqa: BLE001 - `ended` tells ours from Powertools' and the body's
            return call.ended(error)
        return call.ended(None)


class _Deadline:
    """The part of a Lambda context that Powertools asks for; it warns when there is none."""

    def __init__(self, until: int, clock: Clock) -> None:
        self._until = until
        self._clock = clock

    def get_remaining_time_in_millis(self) -> int:
        return max(0, self._until - self._clock.now())


class _BodyFailedError(Exception):
    """Stands for the body's own exception, which may be one that Powertools would act on."""


class _OvertakenError(Exception):
    """The ledger refused: another attempt has the run."""


class _Call(BasePersistenceLayer):
    """One call: its owner token, and what became of it. The four record methods delegate to the ledger."""

    def __init__(
        self,
        ledger: RunLedger,
        clock: Clock,
        run_id: str,
        until: int,
        keep_until: int,
        body: Callable[[int], Outcome],
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._ledger = ledger
        self._clock = clock
        self._run_id = run_id
        self._until = until
        self._keep_until = keep_until
        self._body = body
        self._owner = secrets.token_hex(8)
        self._found: RunRecord | None = None
        self._outcome: Outcome | None = None
        self._body_error: Exception | None = None
        self._ledger_error: Exception | None = None

    def attempt(self, *, run_id: str) -> None:  # noqa: ARG002 - hashed by Powertools
        """The function that Powertools guards; the name of its argument is the key. It gives back nothing
        that would be encoded there: the outcome is stored from here."""
        if not self._is_started():
            raise SettingsError(
                "POWERTOOLS_IDEMPOTENCY_DISABLED is set, and without its lock tasks would run twice; unset it"
            )
        attempt = self._record().attempts
        task_id = self._run_id.rpartition(".")[0]
        try:
            # So that what a job logs, and the watchdog that ends its process, can be told apart by run.
            with log_fields(
                task_id=task_id, run_id=self._run_id, attempt=attempt, owner=self._owner
            ):
                self._outcome = self._body(attempt)
        except Exception as error:
            self._body_error = error
            raise _BodyFailedError from error

    def ended(self, error: Exception | None) -> RunResult:
        """What became of the call; `error` is what Powertools raised."""
        if self._ledger_error is not None:
            if isinstance(self._ledger_error, _OvertakenError):
                return Overtaken()
            raise self._ledger_error from self._body_error
        if self._found is None:
            raise error or AssertionError("Powertools did not ask the ledger")
        if self._found.outcome is not None:
            return Finished(self._found.outcome, fresh=False)
        if not self._is_started():
            return InProgress(self._found.in_progress_until)
        if self._body_error is not None:
            return Failed(self._found.attempts, self._body_error)
        if error is not None or self._outcome is None:
            raise error or AssertionError("Powertools did not call the body")
        return Finished(self._outcome, fresh=True)

    def _is_started(self) -> bool:
        found = self._found
        return found is not None and found.owner == self._owner and found.outcome is None

    def _record(self) -> RunRecord:
        if self._found is None:
            raise IdempotencyItemNotFoundError
        return self._found

    def _put_record(self, data_record: DataRecord) -> None:
        """Start: Powertools' expiries are by its own clock, so the call's are used instead."""
        self._found = self._asking(
            lambda: self._ledger.start(
                self._run_id, self._owner, self._clock.now(), self._until, self._keep_until
            )
        )
        if not self._is_started():
            raise IdempotencyItemAlreadyExistsError(
                old_data_record=self._get_record(data_record.idempotency_key)
            )

    def _get_record(self, idempotency_key: str) -> DataRecord:
        """What the start found. No expiries: whether they have passed is the ledger's to say, by the clock
        it was given."""
        outcome = self._record().outcome
        return DataRecord(
            idempotency_key,
            status=STATUS_CONSTANTS["INPROGRESS" if outcome is None else "COMPLETED"],
            response_data="" if outcome is None else encode_outcome(outcome),
        )

    def _update_record(self, data_record: DataRecord) -> None:  # noqa: ARG002 - it is this call's
        """Finish."""
        outcome = self._outcome
        if outcome is None:
            raise AssertionError("Powertools did not call the body")
        self._fenced(
            lambda: self._ledger.finish(self._run_id, self._owner, outcome, self._clock.now())
        )

    def _delete_record(self, data_record: DataRecord) -> None:  # noqa: ARG002 - it is this call's
        """Fail: an update, so that attempts and errors stay countable."""
        told = short(self._body_error) if self._body_error else "unknown"
        self._fenced(lambda: self._ledger.fail(self._run_id, self._owner, told, self._clock.now()))

    def _fenced(self, write: Callable[[], bool]) -> None:
        if not self._asking(write):
            self._ledger_error = _OvertakenError()
            raise self._ledger_error

    def _asking(self, call: Callable[[], Answer]) -> Answer:
        try:
            return call()
        except Exception as error:
            self._ledger_error = error
            raise
