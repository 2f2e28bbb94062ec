"""Each rule of slots is needed: without it a test of them fails."""

import pytest
from bank import bank_of
from broken_slots import BROKEN

from minutero.transaction import Transaction


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_the_rules_notice(moto_world, broken, monkeypatch):
    if broken.leave:
        monkeypatch.setattr(Transaction, "__exit__", broken.leave)
    bank = bank_of(moto_world, broken.slots)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        broken.noticed_by(bank)
