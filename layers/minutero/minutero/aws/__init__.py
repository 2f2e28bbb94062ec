"""The ports on AWS: DynamoDB through PynamoDB and botocore, SQS, Powertools' idempotency.

Modules import only what they use, since every import is paid for in each cold start: the queue knows no
PynamoDB, the ledger knows no Powertools.
"""
