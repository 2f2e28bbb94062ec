"""The deployment that is looked at, and the questions that AWS answers about it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from minutero_cli.api_client import Api, ApiError

DENIED = ("AccessDenied", "AccessDeniedException", "AuthorizationError", "UnauthorizedOperation")
MISSING = (
    "ResourceNotFoundException",
    "TableNotFoundException",
    "AWS.SimpleQueueService.NonExistentQueue",
    "QueueDoesNotExist",
    "NotFound",
    "NotFoundException",
)
FORBIDDEN = (401, 403)


class NotChecked(Exception):
    """The question got no answer; the message says why, as `needs sqs:GetQueueAttributes`."""


class Missing(Exception):
    """AWS knows nothing of what was asked about; the message names it."""


@dataclass(slots=True)
class Deployment:
    """One stack: what CloudFormation knows of it, and who can be asked.

    `client` opens a client of an AWS service by botocore's name. `emulated` tells that no AWS is behind it.
    """

    stack: str
    outputs: Mapping[str, str]
    parameters: Mapping[str, str]
    client: Callable[[str], Any]
    api: Api
    emulated: bool = False
    _answers: dict[str, Any] = field(default_factory=dict)
    _silent: dict[str, str] = field(default_factory=dict)

    def ask(self, service: str, operation: str, **arguments: Any) -> dict[str, Any]:
        """AWS's answer; the same question is asked once.

        Raises Missing, or NotChecked: a permission is missing, or there is no answer. Who did not answer
        once is not asked again, so that a service that is down holds nobody up for long.
        """
        question = json.dumps([service, operation, arguments], sort_keys=True)
        if question not in self._answers:
            self._answers[question] = self._ask(service, operation, arguments)
        return dict(self._answers[question])

    def _ask(self, service: str, operation: str, arguments: Mapping[str, Any]) -> Any:
        if service in self._silent:
            raise NotChecked(self._silent[service])
        try:
            return getattr(self.client(service), operation)(**arguments)
        except ClientError as error:
            code = error.response["Error"].get("Code", "")
            if code in DENIED:
                raise NotChecked(f"needs {service}:{error.operation_name}") from None
            if code in MISSING:
                raise Missing(", ".join(str(one) for one in arguments.values())) from None
            raise NotChecked(f"{service}:{error.operation_name} answers {code}") from None
        except BotoCoreError as error:
            self._silent[service] = f"{service} does not answer: {error}"
            raise NotChecked(self._silent[service]) from None

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """The answer of the deployment's own HTTP API. Raises NotChecked."""
        question = json.dumps(["GET", path, query], sort_keys=True)
        if question not in self._answers:
            try:
                self._answers[question] = self.api.get(path, query).body
            except ApiError as error:
                why = "needs execute-api:Invoke" if error.status in FORBIDDEN else str(error)
                raise NotChecked(why) from None
        return dict(self._answers[question])

    def parameter(self, name: str) -> int:
        """A number among the parameters of the template. Raises NotChecked where it is none."""
        text = self.parameters.get(name, "")
        if not text.isdecimal():
            raise NotChecked(f"the stack has no parameter {name}")
        return int(text)

    def resources(self, kind: str) -> dict[str, str]:
        """Logical name -> physical name of the stack's resources of this type."""
        found: dict[str, str] = {}
        more: dict[str, str] = {}
        while True:
            page = self.ask("cloudformation", "list_stack_resources", StackName=self.stack, **more)
            for one in page["StackResourceSummaries"]:
                if one["ResourceType"] == kind:
                    found[one["LogicalResourceId"]] = one.get("PhysicalResourceId", "")
            if not page.get("NextToken"):
                return found
            more = {"NextToken": page["NextToken"]}
