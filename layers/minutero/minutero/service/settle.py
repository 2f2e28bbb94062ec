"""When a bucket is settled: nothing in it is `scheduled`, and it holds no open claim."""

from minutero.ports import TaskStore


def is_settled(store: TaskStore, bucket: str, *, pass_was_clean: bool) -> bool:
    """Looks in this order, and only in this order: a full pass that finds nothing `scheduled`, *then*, in
    a query begun after that pass, no open claim.

    A query is no snapshot. Asked the other way round, a claim opened in between would be missed, and with
    it the tasks it took, which the pass no longer sees as scheduled. This way round, whoever takes a task
    before the pass reads it has opened a claim before that, and the second query sees it.

    `pass_was_clean`: the caller has just made such a pass and found nothing.
    """
    return (pass_was_clean or _nothing_scheduled(store, bucket)) and not store.open_claims(bucket)


def _nothing_scheduled(store: TaskStore, bucket: str) -> bool:
    after: str | None = None
    while True:
        page = store.page(bucket, after)
        if page.scheduled or page.unreadable:
            return False
        if page.next is None:
            return True
        after = page.next
