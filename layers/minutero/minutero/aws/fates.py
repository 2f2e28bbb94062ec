"""What became of the times of schedules."""

from collections.abc import Sequence
from typing import Any

from minutero.aws.schedule_rows import (
    fate_attributes,
    fate_key,
    fates_partition,
    read_fate,
)
from minutero.aws.tasks_table import Entry, TasksTable, delete, put
from minutero.domain.exchanged import ScheduleChange
from minutero.domain.schedule import Fate

MOST = 500
"""Fates of one answer."""

LOOK_BACK = 10
"""So many that begin before the first time asked for are looked at: one of them may reach to it."""


class Fates(TasksTable):
    """The part of `ScheduleStore` that tells of the past."""

    def fates(self, name: str, first: int, last: int) -> Sequence[Fate]:
        """Up to 500 in the order of their first times."""
        if first > last:
            return ()
        since, until = (fate_key(name, max(0, time))["name"] for time in (first, last))
        begun = self._fates(name, "#name < :since", {":since": since}, LOOK_BACK, forward=False)
        between = {":since": since, ":until": until}
        rest = self._fates(name, "#name BETWEEN :since AND :until", between, MOST, forward=True)
        return [*(fate for fate in reversed(begun) if fate.last >= first), *rest][:MOST]

    def _fates(
        self, name: str, bound: str, values: dict[str, str], most: int, *, forward: bool
    ) -> list[Fate]:
        request: Any = {
            "TableName": self._tables.names.schedules,
            "KeyConditionExpression": f"#partition = :partition AND {bound}",
            "ExpressionAttributeNames": {"#partition": "partition", "#name": "name"},
            "ExpressionAttributeValues": {
                ":partition": {"S": fates_partition(name)},
                **{key: {"S": value} for key, value in values.items()},
            },
            "ConsistentRead": True,
            "ScanIndexForward": forward,
            "Limit": most,
        }
        answer: Any = self._ask(lambda: self._tables.client.query(**request))
        found = [read_fate(self._tables.fate, row) for row in answer["Items"]]
        return [fate for fate in found if fate is not None]

    def _noted(self, change: ScheduleChange) -> Sequence[Entry]:
        """The entries that note fates and take others back; what is noted anew is not taken back."""
        known = change.after or change.before
        if known is None:
            return ()
        name, model = known.name, self._tables.fate
        noted = {fate.first for fate in change.fates}
        return [
            *(
                put(model(**fate_attributes(name, fate, change.keep_until)))
                for fate in change.fates
            ),
            *(
                delete(model(**fate_key(name, time)))
                for time in change.forgets
                if time not in noted
            ),
        ]
