"""The claim: the conditional write that gives each task to one batch."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from minutero.aws.failures import ask
from minutero.aws.tasks_table import TasksTable
from minutero.domain.exchanged import Claim
from minutero.domain.task import Place, State
from minutero.errors import Unavailable

logger = logging.getLogger(__name__)

STILL_SCHEDULED = f""""state" = '{State.SCHEDULED}'"""
"""A tick's guard: nobody has claimed, cancelled or moved it."""

STILL_CLAIMED_UNDER = f'"state" = \'{State.CLAIMED}\' AND "claim_id" = ?'
"""A rescue's guard: it is where the dead batch left it."""

NEVER = {"ValidationError"}
"""Error codes of statements that are wrong in themselves, however often they are asked."""


class Claims(TasksTable):
    """The part of `TaskStore` that claims. One unit a task."""

    def claim(
        self, places: Sequence[Place], claim_id: str, at: int, taken_from: str | None = None
    ) -> list[Claim]:
        """Up to 25 tasks, each on its own: BatchExecuteStatement is no transaction, and tells what became
        of each statement inside a 200 answer."""
        text = self._statement(
            claim_id, at, STILL_SCHEDULED if taken_from is None else STILL_CLAIMED_UNDER
        )
        guard = [] if taken_from is None else [{"S": taken_from}]
        statements: Any = [
            {
                "Statement": text,
                "Parameters": [{"S": place.bucket}, {"S": place.sk}, *guard],
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
            for place in places
        ]
        try:
            answer = ask(
                lambda: self._tables.client.batch_execute_statement(Statements=statements),
                self._clock,
            )
        except Unavailable as error:
            fields = {"claim_id": claim_id, "error": str(error)}
            logger.info("no answer to a batch of claims", extra=fields)
            return [Claim.UNKNOWN] * len(places)
        answers = answer["Responses"]
        # Fewer answers than statements would be none for the last: unknown.
        told = [_result(one, claim_id) for one in answers[: len(places)]]
        return told + [Claim.UNKNOWN] * (len(places) - len(told))

    def _statement(self, claim_id: str, at: int, guard: str) -> str:
        """What is the same for a whole batch stands in the text: botocore takes longer for a parameter than
        for anything else in a claim. A quote is doubled, as PartiQL has it."""
        quoted = claim_id.replace("'", "''")
        return (
            f"""UPDATE "{self._tables.names.tasks}" SET "state" = '{State.CLAIMED}'"""  # noqa: S608 - see above
            f""" SET "claim_id" = '{quoted}' SET "claimed_at" = {at}"""
            f""" WHERE "bucket" = ? AND "sk" = ? AND {guard}"""
        )


def _result(answer: Mapping[str, Any], claim_id: str) -> Claim:
    error = answer.get("Error")
    if not error:
        return Claim.WON
    code = error.get("Code", "")
    if code == "ConditionalCheckFailed":
        found = error.get("Item") or {}
        ours = found.get("claim_id") == {"S": claim_id} and found.get("state") == {
            "S": State.CLAIMED
        }
        # Our own id in the way: an earlier try took it, and its answer got lost.
        return Claim.WON if ours else Claim.LOST
    if code in NEVER:
        # Nothing was written and nothing ever will be. Unknown would keep its whole batch open for good;
        # lost leaves this one task scheduled, its bucket unsettled, and the error told on every tick.
        told = {"claim_id": claim_id, "error": str(error.get("Message", code))}
        logger.error("DynamoDB refuses the statement of a claim", extra=told)
        return Claim.LOST
    return Claim.UNKNOWN
