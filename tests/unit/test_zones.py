"""Time zones come from the pinned package alone, by names of its list alone."""

import os
import subprocess
import sys
import zoneinfo
from datetime import UTC, datetime
from importlib import resources

import pytest
from hypothesis import strategies as st
from properties import given

import minutero
from minutero.domain.zones import load_zone, zone_names

PROBE = """
import zoneinfo
from datetime import UTC, datetime
import minutero
before = zoneinfo.TZPATH
for zone in ("America/Vancouver", "Africa/Casablanca"):
    (found,) = minutero.fire_times("cron(0 8 * * ? *)", zone, datetime(2026, 11, 1, tzinfo=UTC), 1)
    print(found.isoformat())
(found,) = minutero.fire_times("cron(0 * * * ? *)", "UTC", datetime(2025, 10, 5, 2, tzinfo=UTC), 1)
print(found.isoformat())
try:
    print(datetime(2026, 11, 1, 15, tzinfo=UTC).astimezone(zoneinfo.ZoneInfo("America/Vancouver")).hour)
except zoneinfo.ZoneInfoNotFoundError:
    print("none")
print(zoneinfo.TZPATH == before)
"""
RIGHT = ["2026-11-01T15:00:00+00:00", "2026-11-01T08:00:00+00:00", "2025-10-05T03:00:00+00:00"]
"""With the rules of 2026: Vancouver stays at -07, Casablanca at +00. The last: B049."""


def probe(path):
    """What a process finds whose machine has its time zones in this folder, and lives in Sydney."""
    there = dict(os.environ, PYTHONTZPATH=str(path), TZ="Australia/Sydney")
    done = subprocess.run(
        [sys.executable, "-c", PROBE], env=there, capture_output=True, text=True, check=True
    )
    *found, others, untouched = done.stdout.splitlines()
    return found, others, untouched


def test_a_stale_machine_changes_nothing_and_others_in_the_process_still_see_it(tmp_path):
    """B053."""
    stale = resources.files("tzdata").joinpath("zoneinfo", "Etc", "GMT-9").read_bytes()
    for zone in ("America/Vancouver", "Africa/Casablanca", "UTC"):
        path = tmp_path / zone
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(stale)
    assert probe(tmp_path) == (RIGHT, "0", "True")  # 15:00 UTC is 00:00 nine hours ahead


def test_a_machine_without_zones_changes_nothing(tmp_path):
    """B058."""
    found, _, untouched = probe(tmp_path)
    assert (found, untouched) == (RIGHT, "True")


def test_zones_are_shared_and_are_not_those_of_the_standard_library():
    assert load_zone("Europe/Berlin") is load_zone("Europe/Berlin")
    assert load_zone("Europe/Berlin") is not zoneinfo.ZoneInfo("Europe/Berlin")
    assert load_zone("Europe/Berlin").key == "Europe/Berlin"


def test_every_name_of_the_list_is_loaded():
    assert len(zone_names()) > 500
    for name in zone_names():
        assert datetime(2026, 12, 1, tzinfo=UTC).astimezone(load_zone(name)).utcoffset() is not None


def test_old_spellings_and_fixed_offsets_are_in_the_list():
    assert {
        "Europe/Kiev",
        "US/Central",
        "UTC",
        "GMT",
        "Etc/GMT+5",
        "America/Mexico_City",
    } <= zone_names()


@pytest.mark.parametrize(
    "name",
    ["America", "../../etc/passwd", "/etc/localtime", "/usr/share/zoneinfo/UTC", "", " ", ".", "..",
     "UTC\0", "localtime", "posixrules", "Factory", "right/UTC", "posix/America/New_York", "tzdata.zi",
     "zone.tab", "leapseconds", "__init__.py", "Mars/Olympus", "america/new_york", "America/New_York ",
     "America//New_York", "America/./New_York", "Europe/../America/New_York", "America/New_York/", "utc",
     "Z", "+05:00", "UTC+5", "EST5EDT4,M3.2.0,M11.1.0", "PST", "\ud800", "x" * 100_000, "\uff35TC"],
)  # fmt: skip
def test_any_other_name_is_refused_in_one_shape_and_no_file_is_read(name, monkeypatch):
    """B057, B058."""
    zone_names()
    monkeypatch.setattr("minutero.domain.zones._read", None)
    with pytest.raises(minutero.InvalidSchedule, match="is no IANA time zone") as refused:
        minutero.fire_times("cron(0 9 * * ? *)", name)
    assert (refused.value.code, refused.value.field) == ("invalid_timezone", "timezone")
    assert refused.value.message.isprintable()
    assert len(refused.value.message) < 400


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("america/new_york", "America/New_York"),
        ("America/New_York ", "America/New_York"),
        ("New York", "America/New_York"),
        ("mexico city", "America/Mexico_City"),
        ("America/Mexico", "America/Mexico_City"),
        ("Europe/Kyev", "Europe/Kyiv"),
        ("posix/America/New_York", "America/New_York"),
        ("utc", "UTC"),
        ("UTC+5", "Etc/GMT-5"),
        ("GMT-03:00", "Etc/GMT+3"),
        ("+09:00", "Etc/GMT-9"),
    ],
)
def test_a_near_name_is_told(name, meant):
    with pytest.raises(minutero.InvalidSchedule, match="perhaps you mean") as refused:
        load_zone(name)
    assert refused.value.message.endswith(f"perhaps you mean {meant}")


@pytest.mark.parametrize(
    "name", ["Factory", "PST", "CEST", "America", "UTC+15", "+05:30", "x" * 1000]
)
def test_where_nothing_is_near_an_example_is_told(name):
    with pytest.raises(
        minutero.InvalidSchedule, match="send one such as America/Mexico_City or UTC"
    ):
        load_zone(name)


@given(st.text(max_size=80))
def test_a_name_that_is_told_is_one_of_the_list(name):
    if name not in zone_names():
        with pytest.raises(minutero.InvalidSchedule) as refused:
            load_zone(name)
        _, _, near = refused.value.message.partition("perhaps you mean ")
        assert not near or near in zone_names()
