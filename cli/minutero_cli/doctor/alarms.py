"""Whether somebody hears the alarms."""

from collections.abc import Iterator
from typing import Any

from minutero_cli.doctor.deployment import Deployment, Missing
from minutero_cli.doctor.finding import Finding, failed, ok, warning

AT_ONCE = 100
PENDING = "PendingConfirmation"
SUBSCRIBE = (
    "name an address in the parameter AlarmEmail and deploy, or give the alarms an action of yours"
)


def alarms_there(deployment: Deployment) -> Iterator[Finding]:
    """Each alarm of the template is there and may act."""
    wanted = deployment.resources("AWS::CloudWatch::Alarm").values()
    there = {one["AlarmName"]: one for one in _alarms(deployment)}
    gone = sorted(set(wanted) - set(there))
    mute = sorted(name for name, one in there.items() if not one.get("ActionsEnabled", True))
    if gone or not wanted:
        yield failed("alarms", f"not there: {', '.join(gone) or 'all of them'}", "deploy again")
    if mute:
        yield warning("alarms", f"actions are switched off: {', '.join(mute)}", "switch them on")
    if wanted and not gone and not mute:
        yield ok("alarms", f"all {len(there)} are there")


def alarm_subscribers(deployment: Deployment) -> Iterator[Finding]:
    """An alarm that goes off writes to somebody who has confirmed."""
    alarms = _alarms(deployment)
    quiet = [one["AlarmName"] for one in alarms if not one.get("AlarmActions")]
    if quiet:
        yield warning(
            "alarms", f"{len(quiet)} of {len(alarms)} tell nobody when they go off", SUBSCRIBE
        )
    actions = {action for one in alarms for action in one.get("AlarmActions", ())}
    for topic in sorted(one for one in actions if ":sns:" in one):
        yield _topic(deployment, topic)
    others = [one for one in actions if ":sns:" not in one]
    if others:
        yield ok("alarms", f"call {len(others)} actions that are no topic")


def _topic(deployment: Deployment, topic: str) -> Finding:
    what = topic.rpartition(":")[2]
    try:
        told = deployment.ask("sns", "list_subscriptions_by_topic", TopicArn=topic)["Subscriptions"]
    except Missing:
        return failed(what, "the topic of the alarms is not there", "deploy again")
    pending = [one["Endpoint"] for one in told if one["SubscriptionArn"] == PENDING]
    confirmed = len(told) - len(pending)
    if pending:
        return warning(
            what, f"{confirmed} subscribers, and not confirmed: {', '.join(pending)}",
            "follow the link in the mail that SNS has sent; it holds for three days, then deploy again",
        )  # fmt: skip
    if not confirmed:
        return warning(what, "nobody has subscribed to the topic of the alarms", SUBSCRIBE)
    return ok(what, f"{confirmed} subscribers")


def alarms_off(deployment: Deployment) -> Iterator[Finding]:
    """No alarm is going off."""
    ringing = [one["AlarmName"] for one in _alarms(deployment) if one.get("StateValue") == "ALARM"]
    for name in ringing:
        section = name.removeprefix(f"{deployment.stack}-")
        yield warning(name, "is going off", f"see {section} in docs/operations.md")
    if not ringing:
        yield ok("alarms", "none is going off")


def _alarms(deployment: Deployment) -> list[dict[str, Any]]:
    names = sorted(deployment.resources("AWS::CloudWatch::Alarm").values())
    if not names:
        return []
    told = deployment.ask(
        "cloudwatch", "describe_alarms", AlarmNames=names[:AT_ONCE], MaxRecords=AT_ONCE
    )
    return list(told.get("MetricAlarms", ()))
