"""Reports from the field about rules, zones and clocks, with the instants they should have had."""

import time
from datetime import UTC, datetime

import pytest
from world import NOW, World

import minutero
from minutero.domain.exchanged import Cursor
from minutero.domain.instants import HOUR, MINUTE, SECOND
from minutero.domain.schedule import Definition, Schedule
from minutero.domain.task import first_place
from minutero.domain.timing import Timing
from minutero.errors import InvalidSchedule, SettingsError

FIRES = {
    "B007": (
        "cron(0 11-23/4 ? * 2-6 *)",
        "UTC",
        "2026-05-15T15:30",
        ["2026-05-15T19:00", "2026-05-15T23:00", "2026-05-18T11:00"],
    ),
    "B008": (
        "cron(0 9 LW * ? *)",
        "UTC",
        "2026-01-01T00:00",
        [f"2026-{day}T09:00" for day in ("01-30", "02-27", "03-31", "04-30", "05-29")],
    ),
    "B008 names": (
        "cron(30 6 1 jan,Jul ? *)",
        "UTC",
        "2026-01-02T00:00",
        ["2026-07-01T06:30", "2027-01-01T06:30"],
    ),
    "B009": (
        "cron(15 10 ? * 6L 2022-2023)",
        "UTC",
        "2023-09-01T00:00",
        [f"2023-{day}T10:15" for day in ("09-29", "10-27", "11-24", "12-29")],
    ),
    "B011": ("cron(0-29/5 22 09 05 ? 2020)", "UTC", "2020-05-09T22:21", ["2020-05-09T22:25"]),
    "B020": ("cron(0 9 29 2 ? *)", "UTC", "2016-02-29T09:00", ["2020-02-29T09:00"]),
    "B023": ("cron(0 0 29 2 ? *)", "UTC", "2096-02-29T00:00", ["2104-02-29T00:00"]),
    "B024": ("cron(1 3 ? 3,10 SUN *)", "UTC", "2026-06-01T00:00", ["2026-10-04T03:01"]),
    "B030": (
        "cron(30 1 * * ? *)",
        "America/New_York",
        "2026-10-31T12:00",
        ["2026-11-01T05:30", "2026-11-02T06:30"],
    ),
    "B032": (
        "cron(0/15 * * * ? *)",
        "America/New_York",
        "2026-11-01T05:20",
        [
            f"2026-11-01T{at}"
            for at in ("05:30", "05:45", "06:00", "06:15", "06:30", "06:45", "07:00")
        ],
    ),
    "B033": (
        "cron(45 1 * * ? *)",
        "Australia/Lord_Howe",
        "2026-04-03T00:00",
        ["2026-04-03T14:45", "2026-04-04T14:45", "2026-04-05T15:15"],
    ),
    "B035": (
        "cron(0 20 * * ? *)",
        "Europe/Paris",
        "2022-10-30T00:00",
        ["2022-10-30T19:00", "2022-10-31T19:00", "2022-11-01T19:00"],
    ),
    "B036": (
        "cron(0 0 1 * ? *)",
        "Europe/Berlin",
        "2024-02-29T23:00",
        ["2024-03-31T22:00", "2024-04-30T22:00"],
    ),
    "B040": ("cron(0 0 ? * MON-FRI *)", "US/Central", "2021-03-12T06:00", ["2021-03-15T05:00"]),
    "B041": (
        "cron(0 1/2 * * ? *)",
        "Europe/London",
        "2024-10-26T22:00",
        ["2024-10-27T00:00", "2024-10-27T03:00", "2024-10-27T05:00"],
    ),
    "B042": (
        "cron(0 1 4 11 ? *)",
        "America/Sao_Paulo",
        "2018-11-03T12:00",
        ["2018-11-04T03:00", "2019-11-04T04:00"],
    ),
    "B051": (
        "cron(0 8 * * ? *)",
        "America/Mexico_City",
        "2023-04-01T00:00",
        [f"2023-04-0{day}T14:00" for day in (1, 2, 3)],
    ),
}


def moment(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize("report", FIRES)
def test_a_rule_fires_at_the_instants_of_the_report(report):
    expression, zone, after, expected = FIRES[report]
    found = minutero.fire_times(expression, zone, moment(after), len(expected))
    assert found == [moment(text) for text in expected]


@pytest.mark.parametrize("report", ["B009", "B011"])
def test_a_rule_that_has_ended_gives_no_more(report):
    expression, zone, after, expected = FIRES[report]
    assert len(minutero.fire_times(expression, zone, moment(after), 99)) == len(expected)


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("cron(55 7-23 * * * *)", "cron(55 7-23 * * ? *)"),  # B001
        ("15 12 * * 0", "cron(15 12 ? * SUN *)"),  # B004
        ("cron(* ? * * * *)", "only one of the two day fields"),  # B005
        ("cron(0 18 ? * MON-FRI ?)", "year has '?'"),  # B006
        ("cron(0 18 ? * MON-FRI L)", "year"),  # B006
        ("cron(15 10 2W,16 * ? *)", "W"),  # B015
        ("cron(0 2 29 2 1 *)", "both given"),  # B023
        ("rate(5 hour)", "rate(5 hours)"),  # B025
    ],
)
def test_what_is_refused_is_refused_when_the_schedule_is_put_and_nothing_is_stored(
    expression, told
):
    world = World()
    with pytest.raises(InvalidSchedule) as refused:
        world.put_schedule("s", Definition("echo", expression))
    assert told in refused.value.message
    assert not world.memory.schedules.schedules


@pytest.mark.parametrize("expression", ["rate(1 hours)", "rate(1 hour)", "rate(5 hours)"])
def test_both_guides_spellings_of_one_hour_are_taken(expression):
    """B025."""
    assert minutero.fire_times(expression)


@pytest.mark.parametrize("expression", ["cron(0 0 31 2 ? *)", "cron(0 0 30 2 ? *)"])
def test_a_rule_that_never_fires_is_refused_when_it_is_put(expression):
    """B018, B019."""
    with pytest.raises(InvalidSchedule, match="never fires"):
        World().put_schedule("s", Definition("echo", expression))


@pytest.mark.parametrize(
    ("first", "last", "found"),
    [
        ("2016-01-01T00:00", "2024-02-29T00:00", ["2020-02-29T22:15"]),
        ("2021-01-01T00:00", "2024-02-29T00:00", []),
        ("2024-02-29T22:15", "2024-02-29T22:15", ["2024-02-29T22:15"]),
    ],
)
def test_looking_back_for_29_february_ends_and_finds_it(first, last, found):
    """B021: going backwards failed on the leap day itself."""
    made = Schedule("s", 1, Definition("echo", "cron(15 22 29 2 ? *)"), 0, 0, 0)
    first, last = (int(moment(text).timestamp()) * SECOND for text in (first, last))
    times = made.times.latest(first, last, 1)
    assert [datetime.fromtimestamp(at / SECOND, UTC) for at in times] == [moment(t) for t in found]


def test_the_machines_own_zone_is_never_used(monkeypatch):
    """B049: a schedule in UTC left out an hour when the host's own clock was changed."""
    monkeypatch.setenv("TZ", "Australia/Sydney")
    time.tzset()
    try:
        found = minutero.fire_times("cron(0 * * * ? *)", "UTC", moment("2025-10-05T02:00"), 1)
        assert found == [moment("2025-10-05T03:00")]
        world = World(now=int(moment("2025-10-05T02:00").timestamp()) * SECOND)
        world.put_schedule("s", Definition("echo", "cron(0 * * * ? *)"))
        pending = world.memory.schedules.schedules["s"].pending
        assert pending.nominal == world.clock.now() + HOUR
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_rate_is_not_moved_by_its_runs_nor_by_a_change_of_the_clock():
    """B046, B073."""
    anchor = moment("2026-10-01T10:00:17")
    (last,) = minutero.fire_times(
        "rate(5 minutes)", after=moment("2026-10-01T18:10:17"), count=1, anchor=anchor
    )
    assert last == moment("2026-10-01T18:15:17")
    over = minutero.fire_times(
        "rate(15 minutes)",
        "America/New_York",
        moment("2026-11-01T05:15"),
        4,
        moment("2026-11-01T05:00"),
    )
    assert over == [moment(f"2026-11-01T{at}") for at in ("05:30", "05:45", "06:00", "06:15")]


# --- clocks


def test_a_lease_outlives_its_dispatcher_by_more_than_clocks_are_apart():
    """B194: the end of a lease was written by one clock and judged by another, 25 s ahead."""
    timing = Timing()
    assert timing.shard_lease - timing.dispatcher_timeout >= 30 * SECOND
    assert timing.claim_lease - timing.dispatcher_timeout >= 60 * SECOND
    with pytest.raises(SettingsError, match="lease"):
        Timing(shard_lease=timing.dispatcher_timeout)


def test_the_end_of_a_lease_is_judged_as_it_was_stored():
    """B196: during an upgrade two versions had leases of different lengths, and one stole living work."""
    cursor = Cursor(0, NOW, lease_owner="old version", lease_until=NOW + 300 * SECOND)
    assert cursor.leased_to_another("new version", NOW + 60 * SECOND)
    assert not cursor.leased_to_another("new version", NOW + 300 * SECOND + 1)


def test_a_second_tick_after_the_first_has_finished_finds_nothing_to_claim():
    """B197: a lock that is held only while the job runs stops no one who comes later."""
    world = World(shards=2)
    world.put_schedule("s", Definition("echo", "rate(1 hour)"))
    world.clock.advance(58 * MINUTE)
    world.tick()
    claimed = len(world.waiting())
    world.clock.advance(4 * SECOND)
    world.tick(owner="another")
    assert (claimed, len(world.waiting())) == (1, 1)
    world.play(5)
    assert len(world.runs) == 1


def test_after_a_restore_what_is_due_now_runs_first_and_what_is_too_late_does_not():
    """B079: catching up without an age limit fires what nobody wants any more."""
    world = World(shards=1)
    stale = world.add(at=NOW + HOUR, expires_after_seconds=600)
    kept = world.add(at=NOW + 2 * HOUR)
    world.put_schedule("s", Definition("echo", "rate(1 hour)"))
    world.clock.advance(72 * HOUR)
    now = world.add_crashed(at=world.clock.now())
    sent = []

    def send(real, messages):
        sent.extend(one.pointer.task_id for one in messages)
        return real(messages)

    world.queue.always("send", send)
    world.tick(enough=HOUR)
    world.tick(enough=HOUR)
    world.work()
    assert sent[:2] == [now.task_id, stale.task_id]
    assert kept.task_id in sent
    assert world.status(stale) == "expired"
    occurrences = [world.memory.tasks.get(first_place(one)).occurrence for one, _, _ in world.runs]
    assert [one.nominal for one in occurrences if one] == [NOW + 72 * HOUR]
