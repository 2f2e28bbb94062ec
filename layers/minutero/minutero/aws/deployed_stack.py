"""A deployed stack, as CloudFormation tells of it: for clients that know no more than its name."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoRegionError

from minutero.errors import NotFound, Unavailable

_CONFIG = Config(
    connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 3, "mode": "standard"}
)

_FROM_OUTPUTS = {
    "MINUTERO_TASKS_TABLE": "TasksTableName",
    "MINUTERO_SCHEDULES_TABLE": "SchedulesTableName",
    "MINUTERO_CURSORS_TABLE": "CursorsTableName",
    "MINUTERO_RUNS_TABLE": "RunsTableName",
    "MINUTERO_TASKS_QUEUE_URL": "TasksQueueUrl",
    "MINUTERO_DEAD_LETTER_QUEUE_URL": "DeadLetterQueueUrl",
    "MINUTERO_WORKER_FUNCTION": "WorkerFunctionName",
    "MINUTERO_DISPATCHER_FUNCTION": "DispatcherFunctionName",
}
_FROM_PARAMETERS = {
    "MINUTERO_SHARDS": "Shards",
    "MINUTERO_LOOK_AHEAD_MINUTES": "LookAheadMinutes",
    "MINUTERO_WORKER_TIMEOUT_SECONDS": "WorkerTimeout",
    "MINUTERO_RETENTION_DAYS": "RetentionDays",
}


@dataclass(frozen=True, slots=True)
class DeployedStack:
    """A stack's outputs and parameters; `endpoint` is the CloudFormation that told them."""

    name: str
    outputs: Mapping[str, str]
    parameters: Mapping[str, str]
    endpoint: str

    def environment(self) -> dict[str, str]:
        """Give the MINUTERO_* variables its functions have. Raises NotFound for a foreign stack."""
        missing = sorted(set(_FROM_OUTPUTS.values()) - set(self.outputs))
        if missing:
            raise NotFound(
                f"stack {self.name!r} has no output {missing[0]}; "
                "is it a stack of Minutero, and up to date?"
            )
        return {
            **{variable: self.outputs[output] for variable, output in _FROM_OUTPUTS.items()},
            **{
                variable: self.parameters[parameter]
                for variable, parameter in _FROM_PARAMETERS.items()
                if parameter in self.parameters
            },
        }


def find_stack(
    name: str,
    session: botocore.session.Session | None = None,
    region: str | None = None,
    endpoint: str | None = None,
) -> DeployedStack:
    """Ask CloudFormation. Raises NotFound for an unknown stack, Unavailable without an answer."""
    session = session or botocore.session.get_session()
    try:
        client: Any = session.create_client(
            "cloudformation", region_name=region, endpoint_url=endpoint, config=_CONFIG
        )
    except BotoCoreError as error:
        raise Unavailable(
            f"CloudFormation cannot be asked about stack {name!r}: {_told(error)}"
        ) from error
    try:
        stack = client.describe_stacks(StackName=name)["Stacks"][0]
    except ClientError as error:
        if error.response["Error"].get("Code") == "ValidationError":
            raise NotFound(
                f"CloudFormation knows no stack {name!r} in {client.meta.region_name}"
            ) from None
        raise Unavailable(f"CloudFormation did not tell about stack {name!r}: {error}") from error
    except BotoCoreError as error:
        raise Unavailable(
            f"CloudFormation cannot be asked about stack {name!r}: {_told(error)}"
        ) from error
    return DeployedStack(
        name=name,
        outputs={one["OutputKey"]: one["OutputValue"] for one in stack.get("Outputs", ())},
        parameters={
            one["ParameterKey"]: one["ParameterValue"] for one in stack.get("Parameters", ())
        },
        endpoint=client.meta.endpoint_url,
    )


def _told(error: BotoCoreError) -> str:
    """Without its full stop, since callers say on."""
    if isinstance(error, NoRegionError):
        return "no region is set; set AWS_DEFAULT_REGION"
    return str(error).rstrip(".")
