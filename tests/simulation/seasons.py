"""Weather in which rules matter that matter in rare weather alone."""

from dataclasses import replace

from minutero.domain.instants import MINUTE
from tests.simulation.faults import Rates
from tests.simulation.world import Weather


def rival_dispatchers(usual: Weather) -> Weather:
    """After an outage, two dispatchers at once on shards that no lease keeps apart; calls are slow, and
    nothing else goes wrong."""
    return replace(
        usual,
        outage=12 * MINUTE,
        doubled=1.0,
        leases=False,
        page=20,
        rates=Rates(crash=0, throttled=0, answer_lost=0, part=0, slow=0.5, stuck=0.01),
    )


def many_deaths(usual: Weather) -> Weather:
    """Dispatchers die at one call in seventeen, and leave their batches to others."""
    return replace(usual, rates=Rates(crash=0.03, part=0.1), page=20)


def long_walks(usual: Weather) -> Weather:
    """After an outage the backlog is more than one tick can walk, though no bucket is: each page holds one
    item, and takes its time. Nothing else goes wrong."""
    return replace(
        usual,
        shards=1,
        grows_to=1,
        outage=12 * MINUTE,
        page=1,
        rates=Rates(crash=0, throttled=0, answer_lost=0, part=0, stuck=0, page_takes=600),
    )


def slow_calls(usual: Weather) -> Weather:
    """Half of the calls take seconds, so that much happens between a look and the change after it."""
    rates = Rates(crash=0, throttled=0, answer_lost=0, part=0, slow=0.5, stuck=0)
    return replace(usual, page=20, rates=rates)


def held_up(usual: Weather) -> Weather:
    """Processes live on after their time, and one call in twenty takes up to a minute."""
    rates = Rates(crash=0, throttled=0, answer_lost=0, part=0, slow=0.05, stuck=0.05)
    return replace(usual, page=20, outage=0, zombies=1.0, rates=rates)
