"""The right spelling near a wrong one, for a refusal to show. Nothing is ever read as something else."""

import re
import unicodedata
from collections.abc import Callable, Iterator

from minutero.domain.cron_fields import DAYS
from minutero.domain.instants import DAY, SECOND
from minutero.domain.rate import UNITS
from minutero.errors import InvalidSchedule

_FORM = re.compile(r"(cron|rate|at)\s*\(?([^()]*)(?:\).*)?", re.IGNORECASE | re.DOTALL)
_LONG_NAME = re.compile(r"([A-Z]{3})[A-Z]+", re.IGNORECASE)
_UNIX_DAY = re.compile(r"(?<![/#\d])[0-7](?!\d)")
_RATE = re.compile(r"(\d{1,6})(?:\.(\d))?\s*([a-z]+)", re.IGNORECASE)
_AT = re.compile(r"(\d{4}-\d\d-\d\d)[T ]+(\d\d:\d\d)(:\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?")
_NICKNAMES = {
    "@hourly": "0 * * * ? *",
    "@daily": "0 0 * * ? *",
    "@midnight": "0 0 * * ? *",
    "@weekly": "0 0 ? * SUN *",
    "@monthly": "0 0 1 * ? *",
    "@yearly": "0 0 1 JAN ? *",
    "@annually": "0 0 1 JAN ? *",
}


def near_spelling(text: str, read: Callable[[str], object]) -> str | None:
    """What was probably meant, as far as `read` takes it; two meanings are joined by "or"."""
    plain = unicodedata.normalize("NFKC", text).strip()
    match = _FORM.fullmatch(plain)
    form, inside = (match[1].lower(), match[2].strip()) if match else ("cron", plain)
    near = {"cron": _near_cron, "rate": _near_rate, "at": _near_at}[form]
    found = [f"{form}({one})" for one in near(inside)]
    return " or ".join(one for one in found if _reads(one, read)) or None


def _reads(text: str, read: Callable[[str], object]) -> bool:
    try:
        read(text)
    except InvalidSchedule:
        return False
    return True


def _near_cron(inside: str) -> Iterator[str]:
    fields = _NICKNAMES.get(inside.lower(), inside).split()
    match len(fields):
        case 5 if "?" in fields:
            yield from _mended([*fields, "*"])
        case 5:  # a Unix line, which counts from 0 = Sunday
            fields[4] = _UNIX_DAY.sub(lambda day: DAYS[int(day[0]) % 7], fields[4])
            yield from _mended([*fields, "*"])
        case 6:
            if "?" in (fields[3], fields[5]):  # Quartz, seconds first and no year
                yield " ".join([*fields[1:], "*"])
            yield from _mended(fields)
        case 7:  # Quartz, seconds first
            yield from _mended(fields[1:])


def _mended(fields: list[str]) -> Iterator[str]:
    """Six fields with `?` where it may stand, and names of three letters."""
    minutes, hours, day, month, weekday, year = fields
    minutes, hours, month, year = (
        "*" if one == "?" else one for one in (minutes, hours, month, year)
    )
    month, weekday = (_LONG_NAME.sub(r"\1", one) for one in (month, weekday))
    weekday = "SUN" if weekday == "0" else weekday
    for one, other in _days(day, weekday):
        yield f"{minutes} {hours} {one} {month} {other} {year}"


def _days(day: str, weekday: str) -> list[tuple[str, str]]:
    """The two day fields with one `?`: in the place of a `*`, else either."""
    if "?" in (day, weekday):
        return [("*", "?")] if day == weekday else [(day, weekday)]
    if weekday == "*":
        return [(day, "?")]
    return [("?", weekday)] if day == "*" else [(day, "?"), ("?", weekday)]


def _near_rate(inside: str) -> Iterator[str]:
    from difflib import get_close_matches  # noqa: PLC0415 - only what is refused pays for it

    match = _RATE.fullmatch(inside)
    if not match:
        return
    number, tenth, word = match.groups()
    periods = {"second": SECOND, **UNITS, "week": 7 * DAY}
    for unit in get_close_matches(word.lower().removesuffix("s"), periods, n=1):
        period = int(number + (tenth or "0")) * periods[unit] // 10
        wanted = [unit, "day", "hour", "minute"] if unit in UNITS else ["day", "hour", "minute"]
        for fitting in (one for one in wanted if period and period % UNITS[one] == 0):
            count = period // UNITS[fitting]
            yield f"{count} {fitting}{'' if count == 1 else 's'}"
            return


def _near_at(inside: str) -> Iterator[str]:
    if match := _AT.fullmatch(inside):
        yield f"{match[1]}T{match[2]}{match[3] or ':00'}"
