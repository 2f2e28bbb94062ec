"""Who may do what, read from template.yaml; `python -m tests.permissions` writes it into docs/permissions.md.

The reason for a grant is the comment behind its action in the template, and nowhere else.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

# The folders of tests are no packages; what they share lies here.
sys.path.insert(0, str(Path(__file__).parent))

from translation import TEMPLATE, of_type, translated

PAGE = TEMPLATE.parent / "docs" / "permissions.md"
MADE = re.compile(r"(<!-- made: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)

POLLED = "Lambda polls with it, no code of ours, and the emulator's Lambda asks for no permission"
NOT_PROVED = {
    "worker sqs:ReceiveMessage TasksQueue": POLLED,
    "worker sqs:GetQueueAttributes TasksQueue": POLLED,
    "dead_letter sqs:ReceiveMessage DeadLetterQueue": POLLED,
    "dead_letter sqs:DeleteMessage DeadLetterQueue": POLLED,
    "dead_letter sqs:GetQueueAttributes DeadLetterQueue": POLLED,
}
"""Grants that no test shows to be needed, and why. One that a test can show does not belong here. AWS names
what its polling needs: https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html"""


@dataclass(frozen=True)
class Grant:
    """One action on one resource. `role` is the logical name of the function's role, `statement` the number
    of the statement in its policy."""

    function: str
    role: str
    statement: int
    action: str
    resource: str
    why: str

    def __str__(self) -> str:
        return f"{self.function} {self.action} {self.resource}"


def grants() -> list[Grant]:
    """Of all functions, in the order of the template."""
    text = TEMPLATE.read_text("utf-8")
    found: list[Grant] = []
    for name, resource in _members(_members(yaml.compose(text))["Resources"]).items():
        kind = _members(resource)["Type"].value
        if kind in ("AWS::Serverless::Function", "AWS::IAM::Role"):
            role = name if kind == "AWS::IAM::Role" else f"{name}Role"
            properties = _members(_members(resource)["Properties"])
            for number, statement in enumerate(_statements(properties.get("Policies"))):
                found += _granted(role, number, _members(statement), text.splitlines())
    return found


def _members(mapping: Any) -> dict[str, Any]:
    return {key.value: value for key, value in mapping.value}


def _statements(policies: Any) -> Iterator[Any]:
    for policy in policies.value if policies else ():
        document = _members(policy).get("PolicyDocument", policy)
        yield from _members(document)["Statement"].value


def _granted(
    role: str, number: int, statement: dict[str, Any], lines: list[str]
) -> Iterator[Grant]:
    actions, resource = statement["Action"], statement["Resource"].value
    # Of an ARN that is put together its last part; its variables have colons too.
    named = re.split(r":(?![^{]*})", resource)[-1].removesuffix(".Arn")
    for action in actions.value if isinstance(actions.value, list) else [actions]:
        behind = lines[action.end_mark.line][action.end_mark.column :]
        why = behind.partition("# ")[2]
        yield Grant(_function(role), role, number, action.value, named, why)


def _function(role: str) -> str:
    """DeadLetterRole -> dead_letter, as its folder is called."""
    stem = role.removesuffix("Role").removesuffix("Function")
    return re.sub(r"(?<!^)(?=[A-Z])", "_", stem).lower()


def page(text: str) -> str:
    """The page with its tables made anew."""
    tables = {"grants": _of_functions(), "others": _of_resources(translated()), "listed": _listed()}
    return MADE.sub(lambda found: f"{found[1]}\n{tables[found[2]]}\n\n{found[3]}", text)


def _of_functions() -> str:
    return "\n\n".join(
        f"### functions/{function}\n\n"
        + _table(
            ("on", "may", "for"),
            ((f"`{one.resource}`", f"`{one.action}`", one.why) for one in granted),
        )
        for function, granted in groupby(grants(), lambda grant: grant.function)
    )


def _listed() -> str:
    return _table(("grant", "why"), ((f"`{grant}`", why) for grant, why in NOT_PROVED.items()))


def _of_resources(template: dict[str, Any]) -> str:
    """What the policies of the resources themselves say."""
    rows = [
        (
            one["Principal"],
            "may",
            *map(_told, (one["Action"], one["FunctionName"])),
            _told(one["SourceArn"]),
        )
        for one in of_type(template, "AWS::Lambda::Permission").values()
    ]
    for kind in ("AWS::SQS::QueuePolicy", "AWS::SNS::TopicPolicy", "AWS::KMS::Key"):
        for name, one in of_type(template, kind).items():
            document = one.get("PolicyDocument") or one["KeyPolicy"]
            rows += [_said(name, statement) for statement in document["Statement"]]
    return _table(("who", "", "what", "on", "only for"), rows)


def _said(name: str, statement: dict[str, Any]) -> tuple[str, ...]:
    (who,) = statement["Principal"].values() if statement["Principal"] != "*" else ("anybody",)
    actions = statement["Action"]
    conditions = statement.get("Condition", {}).values()
    return (
        who if isinstance(who, str) else _told(who),
        "may" if statement["Effect"] == "Allow" else "may not",
        ", ".join(_told(one) for one in ([actions] if isinstance(actions, str) else actions)),
        # In a key's policy "*" is the key itself.
        f"`{name}`" if statement["Resource"] == "*" else _told(statement["Resource"]),
        ", ".join(f"`{key}` {_told(value)}" for keys in conditions for key, value in keys.items()),
    )


def _told(value: Any) -> str:
    """A text, or what an intrinsic function refers to."""
    if isinstance(value, dict):
        (value,) = value.values()
    return f"`{value if isinstance(value, str) else value[0]}`"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(
        "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|" for cells in lines
    )


def managed_policies(role: dict[str, Any]) -> set[str]:
    """The names of AWS's own policies that a role has, whatever the parameters."""
    arns = json.dumps(role.get("ManagedPolicyArns", ()))
    return set(re.findall(r"policy/(?:service-role/)?(\w+)", arns))


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
