"""Values that are made faster. A frozen dataclass sets each of its fields by a call, which took a tenth of
the simulation's time. That nobody sets a field afterwards is for mypy to see, and for all other tests."""

from dataclasses import fields, make_dataclass

from minutero.domain.exchanged import Finished, Outgoing, Page, ScheduleChange, Taken
from minutero.domain.misfire import Step
from minutero.domain.new_task import NewTask
from minutero.domain.occurrence import Occurrence
from minutero.domain.run import Outcome, RunRecord
from minutero.domain.schedule import Fate, Link, Schedule
from minutero.domain.task import Place, Pointer, Task
from minutero.domain.times import Times
from minutero.jobs import Run
from minutero.service.add_task import Added
from minutero.service.read_task import TaskView

OFTEN_MADE = (
    *(Added, Finished, NewTask, Outcome, Outgoing, Page, Place, Pointer),
    *(Run, RunRecord, Taken, Task, TaskView),
    *(Fate, Link, Occurrence, Schedule, ScheduleChange, Step, Times),
)


def thaw() -> None:
    """For the rest of this process."""
    for value in OFTEN_MADE:
        plain = make_dataclass(value.__name__, [(f.name, f.type, f) for f in fields(value)])
        del value.__setattr__, value.__delattr__
        value.__init__ = plain.__init__
