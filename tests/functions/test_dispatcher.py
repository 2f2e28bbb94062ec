"""What a tick claims and sends is tested on MiniStack: moto cannot read the claims' statements."""

import json

import pytest

pytestmark = pytest.mark.usefixtures("deployed")


def test_a_tick_leaves_what_is_far_off(dispatcher, event, http, messages):
    http("POST", "/tasks", {"job": "echo", "delay_seconds": 3600})
    assert dispatcher(event("eventbridge_tick"))["total"]["claimed"] == 0
    assert messages() == []


def test_a_tick_serves_all_shards_or_those_it_is_told(dispatcher, event):
    assert [one["shard"] for one in dispatcher(event("eventbridge_tick"))["shards"]] == [0, 1]
    assert [one["shard"] for one in dispatcher({"shards": [1]})["shards"]] == [1]


def test_a_tick_can_be_told_as_json(dispatcher, event):
    assert json.loads(json.dumps(dispatcher(event("eventbridge_tick"))))["total"]["pages_read"] > 0
