"""Time zones by their IANA names, from the pinned `tzdata` package alone.

The machine's own files are never read: they may be years old, or missing. Other users of `zoneinfo` in the
process keep their own search path.
"""

import pkgutil
import re
from functools import cache
from io import BytesIO
from zoneinfo import ZoneInfo

from tzdata import IANA_VERSION  # type: ignore[import-untyped]  # data, and this name

from minutero.errors import InvalidSchedule

ZONES_VERSION: str = IANA_VERSION
"""As IANA names it: its year and a letter, `2026f`."""

_NO_PLACE = "Factory"
"""Named in the list, and meant for machines that were never set up."""

_OFFSET = re.compile(r"(?:utc|gmt)?([+-])0?(\d{1,2})(?::?00)?", re.ASCII)


@cache
def zone_names() -> frozenset[str]:
    """Every name that is accepted, old spellings such as `Europe/Kiev` among them."""
    return frozenset(_read("zones").decode().split()) - {_NO_PLACE}


def load_zone(name: str) -> ZoneInfo:
    """A name -> its zone. Raises InvalidSchedule (`invalid_timezone`), with a near name if there is one."""
    if name not in zone_names():
        near = _near(name)
        hint = f"perhaps you mean {near}" if near else "send one such as America/Mexico_City or UTC"
        raise InvalidSchedule(f"{name[:60]!r} is no IANA time zone; {hint}", "timezone")
    return _load(name)


@cache
def _load(name: str) -> ZoneInfo:
    return ZoneInfo.from_file(BytesIO(_read(f"zoneinfo/{name}")), key=name)


def _read(path: str) -> bytes:
    data = pkgutil.get_data("tzdata", path)
    if data is None:
        raise FileNotFoundError(f"the tzdata package holds no {path}")
    return data


def _near(name: str) -> str | None:
    """The name that was meant: another case, a city alone, an offset, or a slip of the keyboard."""
    from difflib import get_close_matches  # noqa: PLC0415 - only what is refused pays for it

    wanted = name[:60].strip().lower().replace(" ", "_")
    if match := _OFFSET.fullmatch(wanted):
        # POSIX counts west of Greenwich, so the sign is turned.
        fixed = f"Etc/GMT{'-' if match[1] == '+' else '+'}{match[2]}"
        return fixed if fixed in zone_names() else None
    exact = {one.lower(): one for one in zone_names()}
    if wanted in exact:
        return exact[wanted]
    # A short name is near to too many others, and the signs of Etc/GMT+5 mislead.
    places = {low: one for low, one in exact.items() if "/" in low and not low.startswith("etc/")}
    cities = {low.rpartition("/")[2]: one for low, one in sorted(places.items())}
    known = cities | places
    close = get_close_matches(wanted, known, n=1, cutoff=0.8)
    return known[close[0]] if close else None
