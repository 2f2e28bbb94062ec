"""Sizes and units, by the examples of AWS's own pages, and the bill made of them."""

from dataclasses import fields

import pytest

from bench import units
from bench.prices import PRICES, Used, dollars


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ({"S": "añb"}, 4),
        ({"S": ""}, 0),
        ({"N": "0"}, 1),
        ({"N": "7"}, 2),
        ({"N": "1900000020000"}, 6),
        ({"N": "-12.345"}, 4),
        ({"BOOL": True}, 1),
        ({"NULL": True}, 1),
        ({"B": b"12345"}, 5),
        ({"B": "MTIzNDU="}, 5),
        ({"L": []}, 3),
        ({"L": [{"S": "ab"}, {"N": "7"}]}, 3 + 1 + 2 + 1 + 2),
        ({"M": {"ab": {"S": "c"}}}, 3 + 1 + 2 + 1),
    ],
)
def test_the_size_of_an_item_is_that_of_its_names_and_values(value, size):
    assert units.item_size({"name": value}) == len("name") + size
    assert units.item_size({"name": value, "b": {"S": "12"}}) == len("name") + size + 3


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [(0, 0, 1), (0, 1024, 1), (0, 1025, 2), (3000, 0, 3), (1, 2049, 3)],
)
def test_a_write_is_billed_by_the_larger_of_its_items_in_started_kilobytes(before, after, expected):
    assert units.write_units(before, after) == expected


def test_items_read_by_key_are_rounded_up_each_and_those_of_a_query_together():
    # "1.5 KB and 6.5 KB: 12 KB, not 8 KB", says the page about BatchGetItem.
    sizes = [1536, 6656]
    assert units.read_units(sizes, consistent=True) == 3
    assert units.read_units(sizes, consistent=False) == 1.5
    assert units.query_units(sizes, consistent=True) == 2
    assert units.query_units([], consistent=True) == 1
    assert units.query_units([], consistent=False) == 0.5


def test_a_request_to_sqs_counts_once_for_each_started_64_kilobytes():
    assert units.sqs_requests([]) == 1
    assert units.sqs_requests(["x" * 65_536]) == 1
    assert units.sqs_requests(["x" * 20_480] * 10) == 4


def test_everything_that_is_used_has_a_price_and_stands_in_the_bill():
    names = [one.name for one in fields(Used)]
    assert set(names) == set(PRICES)
    bill = dollars(Used(**dict.fromkeys(names, 1.0)))
    assert {line for line, _ in PRICES.values()} | {"total"} == set(bill)
    assert bill["total"] == pytest.approx(sum(price for _, price in PRICES.values()))


def test_a_bill_tells_only_what_was_used():
    assert dollars(Used(write_units=4e6, sqs_requests=1e6)) == {
        "dynamodb": 2.5,
        "sqs": pytest.approx(0.4),
        "total": pytest.approx(2.9),
    }
