"""The rules of the API hold in whatever order things happen."""

import logging

import pytest
from broken_rules import BROKEN
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from machine import Machine

from minutero.errors import MinuteroError

EXAMPLES = settings(
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=300,
    stateful_step_count=50,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    report_multiple_bugs=False,
)
UNSHRUNK = settings(EXAMPLES, phases=[Phase.generate])


@pytest.fixture(autouse=True)
def quiet():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def test_the_rules_of_the_api_hold_in_whatever_order_things_happen():
    run_state_machine_as_test(Machine, settings=EXAMPLES)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_a_rule_taken_out_is_noticed(monkeypatch, broken):
    monkeypatch.setattr(broken.owner, broken.method, broken.replacement)
    with pytest.raises((AssertionError, MinuteroError, pytest.fail.Exception)):
        run_state_machine_as_test(Machine, settings=UNSHRUNK)
