"""What went wrong for others, behind the ports. docs/field-reports.md lists the reports."""

import pytest
from worlds import KEEP, NOW, key_of

from minutero.aws.run_once import PowertoolsRunOnce
from minutero.domain.exchanged import Finished, InProgress
from minutero.domain.instants import MINUTE, SECOND
from minutero.domain.run import Ending, Outcome
from minutero.testing import SettableClock

RUN = "1abc.0"
DONE = Outcome(Ending.SUCCEEDED, "1")


@pytest.mark.parametrize("remaining", [0, -SECOND], ids=["none left", "overdue"])
def test_a_start_with_no_time_left_still_ends_by_itself(world, remaining):
    """B123: 0 was taken as "not known", and the record was in progress for ever."""
    clock = SettableClock(NOW)

    def dies(attempt):
        assert world.ledger.get(RUN).in_progress_until == NOW + remaining
        raise SystemExit

    with pytest.raises(SystemExit):
        PowertoolsRunOnce(world.ledger, clock)(RUN, NOW + remaining, KEEP, dies)
    clock.advance(1)
    again = PowertoolsRunOnce(world.ledger, clock)
    assert again(RUN, NOW + MINUTE, KEEP, lambda attempt: DONE) == Finished(DONE, fresh=True)


def test_a_run_that_timed_out_is_in_the_way_until_its_expiry_and_no_longer(world):
    """B122, B132: every retry failed until it was; a duplicate before that must not run."""
    clock = SettableClock(NOW)
    once = PowertoolsRunOnce(world.ledger, clock)
    world.ledger.start(RUN, "killed", NOW, NOW + MINUTE, KEEP)
    clock.set(NOW + MINUTE)
    assert once(RUN, NOW + 2 * MINUTE, KEEP, lambda attempt: DONE) == InProgress(NOW + MINUTE)
    clock.advance(1)
    assert once(RUN, NOW + 2 * MINUTE, KEEP, lambda attempt: DONE) == Finished(DONE, fresh=True)


def test_what_expired_ten_seconds_ago_is_gone_though_its_row_is_still_there(world, new_task):
    """B133, B151: DynamoDB deletes within days, and shows the row until then."""
    first, second = new_task(key="k"), new_task(key="k")
    now = (KEEP + 10) * SECOND
    assert world.tasks.put_keyed(first, key_of(first), NOW) is None
    world.ledger.start(RUN, "a", NOW, NOW + MINUTE, KEEP)
    world.ledger.finish(RUN, "a", DONE, NOW)
    assert world.tasks.put_keyed(second, key_of(second), now) is None
    record = world.ledger.start(RUN, "b", now, now + MINUTE, KEEP + 99)
    assert (record.owner, record.attempts, record.outcome) == ("b", 1, None)
