"""Puts together what runs one job in this very process."""

# ruff: noqa: PLC0415 - as in the other builders

import os
import random

from minutero.contained import contained
from minutero.jobs import JobRegistry
from minutero.service.run_job import RunJob
from minutero.settings import Settings
from minutero.wiring.process import CLOCK

NEEDED = ("runs_table",)
"""What such a run needs of a deployment."""


def run_job(jobs: JobRegistry) -> RunJob:
    """For `minutero jobs run`. Raises SettingsError."""
    from minutero.aws import clients
    from minutero.aws.run_ledger import DynamoRunLedger
    from minutero.aws.run_once import PowertoolsRunOnce
    from minutero.aws.slots import DynamoSlots
    from minutero.service.execute import Execute
    from minutero.service.overlap import OneAtATime
    from minutero.testing.memory import Memory

    settings = Settings.from_environment(os.environ, needed=NEEDED)
    dynamodb, runs = clients.dynamodb(), settings.runs_table
    # No message brings such a run, and no schedule: what they would need stays in this process, unused.
    unused = Memory()
    return RunJob(
        Execute(
            unused.tasks,
            unused.queue,
            PowertoolsRunOnce(DynamoRunLedger(dynamodb, runs, CLOCK), CLOCK),
            OneAtATime(unused.locks, CLOCK, settings.timing),
            DynamoSlots(dynamodb, runs, CLOCK),
            jobs,
            CLOCK,
            settings.timing,
            random.random,
            log_payloads=settings.log_payloads,
            contained=contained,
        )
    )
