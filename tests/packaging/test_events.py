"""The events of events/ look like what AWS sends."""

import json
from pathlib import Path

import pytest

from minutero.aws.queue import parse_message

EVENTS = Path(__file__).resolve().parents[2] / "events"


def event(name):
    return json.loads((EVENTS / f"{name}.json").read_text())


@pytest.mark.parametrize("name", ["sqs_tasks", "sqs_dead_letters"])
def test_messages_are_ours(name):
    records = event(name)["Records"]
    assert len(records) == 2
    for record in records:
        pointer, _ = parse_message(record["body"])
        assert pointer.due % 60_000 // 1000 == int(pointer.place.sk[:2])


@pytest.mark.parametrize("name", ["http_post_tasks", "http_get_task", "http_get_jobs"])
def test_requests_are_of_payload_version_2(name):
    request = event(name)
    assert request["version"] == "2.0"
    assert request["routeKey"] == "$default"
    assert request["requestContext"]["http"]["path"] == request["rawPath"]


@pytest.mark.parametrize("name", ["eventbridge_tick", "eventbridge_audit"])
def test_ticks_are_scheduled_events(name):
    assert event(name)["source"] == "aws.events"
    assert event(name)["detail-type"] == "Scheduled Event"
