"""What AWS allows, with its sources, and what is assumed where AWS promises nothing."""

PARTITION_WRITES = 1_000
"""Write units a second of one physical partition of DynamoDB. It has 3,000 read units, or a mix of both.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"""

PARTITION_READS = 3_000

NEW_TABLE = 4_000
"""Write units a second of a new on-demand table. More than twice the highest peak there was within 30
minutes may be refused.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html"""

TABLE_QUOTA = 40_000
"""Write units a second of a table, as long as the account's quota is not raised.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html"""

VCPU_MEMORY = 1_769
"""Megabytes of a Lambda function that come with one vCPU; less comes with its share.
https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html"""

FIRST_BATCHES = 5
"""Batches of a queue that Lambda runs at once when messages arrive in it."""

MORE_BATCHES = 300
"""And so many more each minute, up to 1,250 or the mapping's own maximum of 1,000 at most.
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html"""

BATCHES_A_POLLER = 10
"""Batches of one event poller in provisioned mode, which is there before the messages are.
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html"""

NEW_ENVIRONMENTS = 100
"""Environments that Lambda adds to a function a second: 1,000 in 10 s.
https://docs.aws.amazon.com/lambda/latest/dg/scaling-behavior.html"""

ACCOUNT_CONCURRENCY = 1_000
"""Calls of an account that run at once, as long as its quota is not raised.
https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html"""

BATCH = 10
"""Messages Lambda hands over in one call: `BatchSize` in template.yaml."""

# Assumed. AWS speaks of single-digit milliseconds for an item, and promises nothing; these are generous.

REQUEST = 0.010
"""Seconds of one request to DynamoDB, a page of 500 items and a batch of 25 claims among them."""

SEND = 0.015
"""Seconds of one SendMessageBatch."""

INVOKE = 0.050
"""Seconds from the call of a function to its first line, when an environment is warm."""

COLD_START = 1.5
"""Seconds until a new environment runs its first batch."""

POLL = 0.100
"""Seconds from a message that may be received to the call that brings it."""
