"""The Tasks table."""

from minutero.aws.bucket_pages import BucketPages
from minutero.aws.claims import Claims
from minutero.aws.closed_runs import ClosedRuns
from minutero.aws.dead_letters import DeadLetters


class DynamoTaskStore(ClosedRuns, BucketPages, Claims, DeadLetters):
    """`TaskStore` over the Tasks table (and, where a death touches it, the Runs table).

    Made of `tables.bind(...)` and a clock, which is only slept with between two tries of a request.
    """
