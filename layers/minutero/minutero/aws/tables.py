"""The shapes of the items: PynamoDB models without a table, and `bind`, which gives them one.

Attributes that are not in a model are passed over on read, so that an older version reads what a newer one
wrote; what may be missing has a default or reads as None. Times are milliseconds, TTLs seconds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import new_class
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pynamodb.attributes import (
    BinaryAttribute,
    BooleanAttribute,
    ListAttribute,
    MapAttribute,
    NumberAttribute,
    UnicodeAttribute,
)
from pynamodb.connection import Connection
from pynamodb.models import Model

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Item = TypeVar("Item", bound=Model)

OPEN = "open"
"""`state` of an open claim: key attributes cannot be filtered on, so a filter needs it."""

PAYLOAD_SK = "payload"
KEY_SK = "key"
SETTINGS_BUCKET = "settings"
SHARDS_SK = "shards"
JOBS_SK = "jobs"
TOKEN_SECRET_SK = "token-secret"  # noqa: S105 - the name of the item


class TaskItem(Model):
    """A task; its id and run number are in the sort key. Under 1 KB, or each touch costs two units."""

    bucket = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)
    state = UnicodeAttribute()
    job = UnicodeAttribute()
    run_at = NumberAttribute()
    created_at = NumberAttribute(null=True)
    expires_at = NumberAttribute(null=True)
    max_attempts = NumberAttribute(null=True)
    payload = UnicodeAttribute(null=True)
    large = BooleanAttribute(null=True)
    tenant = UnicodeAttribute(null=True)
    key = UnicodeAttribute(null=True)
    expires_after = NumberAttribute(null=True)
    claim_id = UnicodeAttribute(null=True)
    claimed_at = NumberAttribute(null=True)
    moved_bucket = UnicodeAttribute(null=True)
    moved_sk = UnicodeAttribute(null=True)
    attempts_before = NumberAttribute(null=True)
    occurrence = UnicodeAttribute(null=True)


class PayloadItem(Model):
    """A payload too long for its task's item: `payload#<task id>`."""

    bucket = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True, default=PAYLOAD_SK)
    payload = UnicodeAttribute()
    expires_at = NumberAttribute(null=True)


class KeyItem(Model):
    """What a client's key stands for: `key#<tenant>#<key>`."""

    bucket = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True, default=KEY_SK)
    task_id = UnicodeAttribute()
    body_hash = UnicodeAttribute()
    expires_at = NumberAttribute()


class DeadLetterItem(Model):
    """A row of the list of dead runs: `dead#<day>#<shard>`, oldest first."""

    bucket = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)
    task_bucket = UnicodeAttribute()
    task_sk = UnicodeAttribute()
    job = UnicodeAttribute(default="")
    tenant = UnicodeAttribute(null=True)
    reason = UnicodeAttribute(default="")
    expires_at = NumberAttribute(default=0)


class GrowthStep(MapAttribute[str, int]):
    """One shard count and the time it counts from."""

    shards = NumberAttribute()
    since = NumberAttribute()


class SettingsItem(Model):
    """`shards`: the steps of growth; `jobs`: the names of the deployed jobs; `token-secret`: 32 bytes."""

    bucket = UnicodeAttribute(hash_key=True, default=SETTINGS_BUCKET)
    sk = UnicodeAttribute(range_key=True)
    steps = ListAttribute(of=GrowthStep, null=True)
    largest = NumberAttribute(null=True)
    names: ListAttribute[str] = ListAttribute(null=True)
    secret = BinaryAttribute(null=True, legacy_encoding=False)


class ScheduleItem(Model):
    """A schedule: `schedules#<00 to 15>`. Each firing writes it, so it is kept under 1 KB, and its payload
    lies elsewhere; the hash tells which payload belongs to it."""

    partition = UnicodeAttribute(hash_key=True)
    name = UnicodeAttribute(range_key=True)
    version = NumberAttribute()
    created_at = NumberAttribute()
    changed_at = NumberAttribute()
    anchor = NumberAttribute()
    definition = UnicodeAttribute()
    payload_hash = UnicodeAttribute(null=True)
    pending_task = UnicodeAttribute(null=True)
    pending_time = NumberAttribute(null=True)
    pending_run_at = NumberAttribute(null=True)
    fired = UnicodeAttribute(null=True)
    catch_up_until = NumberAttribute(null=True)
    paused_since = NumberAttribute(null=True)
    paused_reason = UnicodeAttribute(null=True)
    fired_at = NumberAttribute(null=True)


class SchedulePayloadItem(Model):
    """The payload of a schedule: `payload#<name>`."""

    partition = UnicodeAttribute(hash_key=True)
    name = UnicodeAttribute(range_key=True, default=PAYLOAD_SK)
    payload = UnicodeAttribute()


class FateItem(Model):
    """What became of a schedule's times: `fates#<name>`, by the first of them in 14 digits."""

    partition = UnicodeAttribute(hash_key=True)
    name = UnicodeAttribute(range_key=True)
    fate = UnicodeAttribute()
    last = NumberAttribute()
    times = UnicodeAttribute()
    task_id = UnicodeAttribute(null=True)
    expires_at = NumberAttribute(null=True)


class CursorItem(Model):
    """How far a shard is settled. Its key is the shard in two digits or more."""

    shard = UnicodeAttribute(hash_key=True)
    watermark = NumberAttribute()
    lease_owner = UnicodeAttribute(default="")
    lease_until = NumberAttribute(default=0)
    first_minute = NumberAttribute(default=0)
    audited: MapAttribute[str, int] = MapAttribute(null=True)  # type: ignore[no-untyped-call]


class RunItem(Model):
    """A run record, as `run_ledger` writes it: Powertools' attributes, and our own beside them."""

    id = UnicodeAttribute(hash_key=True)
    run_id = UnicodeAttribute()
    status = UnicodeAttribute()
    expiration = NumberAttribute()
    in_progress_expiration = NumberAttribute(default=0)
    data = UnicodeAttribute(null=True)
    ending = UnicodeAttribute(null=True)
    owner = UnicodeAttribute(null=True)
    attempts = NumberAttribute(default=0)
    started_at = NumberAttribute(null=True)
    finished_at = NumberAttribute(null=True)


TTL_ATTRIBUTES = {TaskItem: "expires_at", RunItem: "expiration", FateItem: "expires_at"}
"""The attribute, in seconds, by which DynamoDB deletes the items of the table of that model."""


@dataclass(frozen=True, slots=True)
class TableNames:
    """Names of the tables of one deployment."""

    tasks: str
    runs: str
    cursors: str
    schedules: str


@dataclass(frozen=True, slots=True)
class Tables:
    """The models, bound to the tables of one deployment. `names` and `client` are for raw requests, `once`
    for writes without a guard: a client that repeats none by itself, since one that took effect unseen would
    write over what has become of its item."""

    names: TableNames
    client: "DynamoDBClient"
    once: "DynamoDBClient"
    task: type[TaskItem]
    payload: type[PayloadItem]
    key: type[KeyItem]
    dead_letter: type[DeadLetterItem]
    settings: type[SettingsItem]
    schedule: type[ScheduleItem]
    schedule_payload: type[SchedulePayloadItem]
    fate: type[FateItem]
    cursor: type[CursorItem]
    run: type[RunItem]


def bind(
    client: "DynamoDBClient", names: TableNames, once: "DynamoDBClient | None" = None
) -> Tables:
    """Binds copies of the models to tables. Region, endpoint and time-outs are the client's."""
    return Tables(
        names=names,
        client=client,
        once=once or client,
        task=_bound(TaskItem, names.tasks, client),
        payload=_bound(PayloadItem, names.tasks, client),
        key=_bound(KeyItem, names.tasks, client),
        dead_letter=_bound(DeadLetterItem, names.tasks, client),
        settings=_bound(SettingsItem, names.tasks, client),
        schedule=_bound(ScheduleItem, names.schedules, client),
        schedule_payload=_bound(SchedulePayloadItem, names.schedules, client),
        fate=_bound(FateItem, names.schedules, client),
        cursor=_bound(CursorItem, names.cursors, client),
        run=_bound(RunItem, names.runs, client),
    )


def _bound(model: type[Item], table: str, client: "DynamoDBClient") -> type[Item]:
    meta = type("Meta", (), {"table_name": table, "region": client.meta.region_name})
    fill: Callable[[dict[str, Any]], None] = lambda namespace: namespace.update(Meta=meta)  # noqa: E731
    bound = cast("type[Item]", new_class(model.__name__, (model,), exec_body=fill))
    # PynamoDB would open a session and a client for each model, a tenth of a second each; all share ours.
    _connection(bound)._client = client  # type: ignore[assignment]  # noqa: SLF001
    return bound


def _connection(model: type[Model]) -> Connection:
    return model._get_connection().connection  # noqa: SLF001 - PynamoDB has no public way to it
