"""Wallets to write in once blocks: a table of a job's own, and the slots beside it."""

import secrets
from dataclasses import dataclass
from typing import Any

from pynamodb.attributes import NumberAttribute, UnicodeAttribute, VersionAttribute
from pynamodb.models import Model
from worlds import NOW, World

from minutero.aws.slots import DynamoSlots
from minutero.domain.attribute_values import from_item, to_item
from minutero.ports import Slots
from minutero.testing import MemorySlots, MemoryTable, SettableClock
from minutero.transaction import SlotsOfRun, Transaction


@dataclass
class Bank:
    """`wallets` is the name of the table, its key `id`."""

    slots: Slots
    wallets: str
    clock: SettableClock

    def once(
        self, key: str, *, job: str = "pay", task_id: str = "t1", keep_days: int | None = None
    ) -> Transaction:
        """A block of a run of its own."""
        return SlotsOfRun(self.slots, job, task_id, self.clock).once(key, keep_days)

    def add(self, tx: Transaction, who: str, coins: int = 10, **more: Any) -> None:
        """The write that must not be made twice."""
        tx.update(self.wallets, {"id": who}, "ADD coins :n", values={":n": coins}, **more)

    def pay(self, who: str, key: str = "w22", **more: Any) -> bool | None:
        """A whole block: ten coins, once."""
        with self.once(key, **more) as tx:
            self.add(tx, who)
        return tx.applied

    def coins(self, who: str) -> int:
        """What a wallet holds; nothing where there is none."""
        return (self.get(who) or {}).get("coins", 0)

    def model(self) -> type[Model]:
        """A PynamoDB model of the table, as a user would write it."""
        name = self.wallets

        class Wallet(Model):
            class Meta:
                table_name = name
                region = "us-east-1"

            id = UnicodeAttribute(hash_key=True)
            coins = NumberAttribute(default=0)
            level = UnicodeAttribute(null=True)

        return Wallet

    def versioned(self) -> type[Model]:
        """The same with PynamoDB's version attribute."""

        class Account(self.model()):
            version = VersionAttribute()

        return Account

    def get(self, who: str) -> dict[str, Any] | None:
        raise NotImplementedError

    def put(self, **item: Any) -> None:
        raise NotImplementedError


@dataclass
class MemoryBank(Bank):
    def get(self, who: str) -> dict[str, Any] | None:
        return self.slots.tables[self.wallets].get(who)

    def put(self, **item: Any) -> None:
        self.slots.tables[self.wallets].put(**item)


@dataclass
class DynamoBank(Bank):
    client: Any

    def get(self, who: str) -> dict[str, Any] | None:
        answer = self.client.get_item(
            TableName=self.wallets, Key={"id": {"S": who}}, ConsistentRead=True
        )
        return from_item(answer["Item"]) if "Item" in answer else None

    def put(self, **item: Any) -> None:
        self.client.put_item(TableName=self.wallets, Item=to_item(item))


def bank_of(world: World, kind: type[DynamoSlots] = DynamoSlots) -> Bank:
    """A bank in a world; on AWS its table is made first."""
    name, clock = f"wallets-{secrets.token_hex(4)}", SettableClock(NOW)
    if world.tables is None:
        return MemoryBank(MemorySlots(**{name: MemoryTable("id")}), name, clock)
    client: Any = world.tables.client
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    slots = kind(world.tables.client, world.tables.names.runs, clock)
    return DynamoBank(slots, name, clock, client)
