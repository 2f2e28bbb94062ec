"""The rights that the page on permissions lists are those that are asked for."""

import ast

from pages import ROOT, table, unquoted

DOCTOR = ROOT / "cli" / "minutero_cli" / "doctor"
OTHERWISE = {
    ("cloudformation", "DescribeStacks"),  # before the checks, to find the deployment
    ("execute-api", "Invoke"),  # of the deployment's own API
}


def asked():
    """What the checks of `minutero doctor` ask AWS: `deployment.ask(service, operation, ...)`."""
    for path in DOCTOR.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Attribute(attr="ask"),
                    args=[ast.Constant(value=service), ast.Constant(value=operation)],
                ):
                    yield service, "".join(word.capitalize() for word in operation.split("_"))


def test_the_rights_of_doctor_are_those_it_asks_with():
    told = {
        (unquoted(service)[0], unquoted(action)[0])
        for service, action, _ in table("docs/permissions.md", "`minutero doctor`")
    }
    found = set(asked())
    assert len(found) > 10
    assert told == found | OTHERWISE
