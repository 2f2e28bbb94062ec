"""What the tables in memory make of DynamoDB's expressions is what DynamoDB makes of them."""

from decimal import Decimal

import pytest
from bank import bank_of

from minutero.errors import ConditionFailed, InvalidInput

ITEM = {
    "id": "i",
    "n": 10,
    "s": "abcdef",
    "b": b"\x01\x02",
    "yes": True,
    "nil": None,
    "l": [1, "two", {"deep": 3}],
    "m": {"a": {"b": 5}, "x.y": 6},
    "tags": {"red", "blue"},
    "nums": {1, 2, 3},
}
NAMES = {"#size": "size", "#dotted": "x.y", "#m": "m"}
VALUES = {
    ":zero": 0,
    ":one": 1,
    ":three": 3,
    ":five": 5,
    ":ten": 10,
    ":ten0": Decimal("10.0"),
    ":six": 6,
    ":text": "abcdef",
    ":abc": "abc",
    ":cde": "cde",
    ":S": "S",
    ":L": "L",
    ":yes": True,
    ":nil": None,
    ":red": "red",
    ":two": "two",
    ":list": ["x"],
    ":green": {"green"},
    ":redset": {"red"},
    ":all": {"red", "blue"},
    ":more": {9},
    ":half": Decimal("0.5"),
}
HOLD = [
    "n = :ten AND n = :ten0",
    "n <> :one",
    "nothing <> :one",
    "n > :one AND n >= :ten AND n <= :ten AND NOT n < :ten",
    "s > :abc",
    "yes = :yes AND yes <> :one",
    "nil = :nil",
    "n BETWEEN :one AND :ten",
    "n IN (:one, :ten)",
    "attribute_exists(m.a.b) AND attribute_not_exists(m.a.c) AND attribute_not_exists(l[9])",
    "attribute_type(s, :S) AND attribute_type(l, :L)",
    "begins_with(s, :abc) AND contains(s, :cde) AND contains(tags, :red) AND contains(l, :two)",
    "contains(nums, :three)",
    "size(s) = :six AND size(l) = :three AND size(tags) < :three",
    "m.a.b = :five AND #m.#dotted = :six AND l[2].deep = :three AND l[0] = :one",
    "n = :one OR n = :ten AND s = :text",
    "(n = :ten OR s = :abc) AND NOT (n = :one OR n = :zero)",
    "NOT n = :one AND NOT attribute_exists(nothing)",
    "n = :ten or n = :one and n = :zero",
]
FAIL = [
    "n = :one",
    "n = :text",
    "nothing = :one",
    "nothing < :one",
    "n < :text",
    "s = :one",
    "yes = :one",
    "n BETWEEN :one AND :five",
    "n IN (:one, :five)",
    "begins_with(s, :cde)",
    "contains(tags, :two)",
    "attribute_exists(nothing)",
    "size(nothing) = :zero",
    "(n = :one OR n = :ten) AND s = :abc",
]
CHANGES = {
    "SET n = n + :one, s = :abc": {"n": 11, "s": "abc"},
    "SET n = :ten - n, fresh = if_not_exists(fresh, :zero) + :half": {
        "n": 0,
        "fresh": Decimal("0.5"),
    },
    "SET n = if_not_exists(n, :zero)": {"n": 10},
    "SET l = list_append(l, :list)": {"l": [1, "two", {"deep": 3}, "x"]},
    "SET l[0] = :five, l[9] = :six": {"l": [5, "two", {"deep": 3}, 6]},
    "SET m.a.b = n, n = m.a.b": {"m": {"a": {"b": 10}, "x.y": 6}, "n": 5},
    "REMOVE s, m.a.b, nothing": {"s": None, "m": {"a": {}, "x.y": 6}},
    "ADD n :one, fresh :five": {"n": 11, "fresh": 5},
    "ADD tags :green, nums :more": {"tags": {"red", "blue", "green"}, "nums": {1, 2, 3, 9}},
    "DELETE tags :redset": {"tags": {"blue"}},
    "DELETE tags :all, nothing :redset": {"tags": None},
    "SET s = :abc REMOVE l ADD n :ten DELETE tags :redset": {
        "s": "abc",
        "l": None,
        "n": 20,
        "tags": {"blue"},
    },
}


@pytest.fixture
def bank(world):
    return bank_of(world)


def used(names_or_values, expression):
    """DynamoDB refuses placeholders that are not used."""
    words = expression.replace("(", " ").replace(")", " ").replace(",", " ").replace(".", " ")
    return {name: value for name, value in names_or_values.items() if name in words.split()}


def held(bank, condition, number):
    try:
        with bank.once(f"case {number}") as tx:
            bank.add(tx, f"case {number}")
            tx.check(
                bank.wallets,
                {"id": "i"},
                condition=condition,
                names=used(NAMES, condition),
                values=used(VALUES, condition),
            )
    except ConditionFailed:
        return False
    return True


def test_conditions_hold_and_fail_as_dynamodbs_do(honest_world):
    """Not asked of moto, which ends with a TypeError where it compares a number with a text."""
    bank = bank_of(honest_world)
    bank.put(**ITEM)
    wanted = {**dict.fromkeys(HOLD, True), **dict.fromkeys(FAIL, False)}
    told = {condition: held(bank, condition, n) for n, condition in enumerate(wanted)}
    assert told == wanted


def test_updates_change_what_dynamodbs_do(bank):
    for number, (update, changes) in enumerate(CHANGES.items()):
        item = {**ITEM, "id": f"i{number}"}
        bank.put(**item)
        with bank.once(f"change {number}") as tx:
            tx.update(
                bank.wallets,
                {"id": f"i{number}"},
                update,
                names=used(NAMES, update),
                values=used(VALUES, update),
            )
        wanted = {k: v for k, v in {**item, **changes}.items() if k == "nil" or v is not None}
        assert bank.get(f"i{number}") == wanted, update


@pytest.mark.parametrize("kind", ["memory", "moto"])
@pytest.mark.parametrize(
    "update",
    ["SET n = nothing", "SET n = s + :one", "ADD s :one", "ADD n :abc", "DELETE n :redset"],
)
def test_what_dynamodb_never_takes_is_refused(request, kind, update):
    bank = bank_of(request.getfixturevalue(f"{kind}_world"))
    bank.put(**ITEM)
    with pytest.raises(InvalidInput) as told, bank.once("never") as tx:
        tx.update(bank.wallets, {"id": "i"}, update, values=used(VALUES, update))
    assert told.value.code == "refused_writes"
    assert bank.get("i") == ITEM


@pytest.mark.parametrize(
    "condition",
    [
        "",
        "n",
        "n =",
        "n = :no",
        "n ! :one",
        "frob(n)",
        "frob(n, :one)",
        "n = :one AND",
        "#no = :one",
    ],
)
def test_a_condition_that_makes_no_sense_is_refused_in_memory(memory_world, condition):
    bank = bank_of(memory_world)
    bank.put(**ITEM)
    with pytest.raises(InvalidInput), bank.once("never") as tx:
        tx.delete(bank.wallets, {"id": "i"}, condition=condition or " ", values={":one": 1})


def test_a_placeholder_that_is_not_used_is_refused_in_memory(memory_world):
    bank = bank_of(memory_world)
    with pytest.raises(InvalidInput, match="no expression uses :one"), bank.once("never") as tx:
        tx.update(bank.wallets, {"id": "i"}, "REMOVE n", values={":one": 1})


def test_a_table_that_was_not_given_is_told_in_memory(memory_world):
    bank = bank_of(memory_world)
    with pytest.raises(LookupError, match="no table 'scores' here"), bank.once("never") as tx:
        tx.put("scores", {"id": "i"})
