"""Answers that are lost, late, or say "not now": what each request makes of them."""

from dataclasses import replace

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError
from worlds import KEEP, NOW, key_of

from minutero.domain.exchanged import Claim, DeadLetter, Growth, Move
from minutero.domain.instants import MINUTE
from minutero.domain.run import Ending, Outcome
from minutero.domain.task import OpenClaim
from minutero.errors import Unavailable

UNTIL = NOW + MINUTE
DONE = Outcome(Ending.SUCCEEDED)


@pytest.fixture
def world(moto_world):
    return moto_world


class Faults:
    """Puts faults between a client and its answers, operation by operation."""

    def __init__(self, client, monkeypatch):
        self._real = client._make_api_call
        self._plans = {}
        self.calls = []
        monkeypatch.setattr(client, "_make_api_call", self._call)

    def before(self, operation, *errors):
        """Raise these, one a call, without doing anything; then work again."""
        self._plans[operation] = [(error, False) for error in errors]

    def after(self, operation, *errors):
        """Do it, then raise these, one a call, as if the answer got lost."""
        self._plans[operation] = [(error, True) for error in errors]

    def answer(self, operation, answer):
        """Answer this, once, without doing anything."""
        self._plans[operation] = [(answer, False)]

    def _call(self, operation, request):
        self.calls.append((operation, request))
        plan = self._plans.get(operation)
        if not plan:
            return self._real(operation, request)
        fault, done = plan.pop(0)
        if done:
            self._real(operation, request)
        if isinstance(fault, Exception):
            raise fault
        return fault


@pytest.fixture
def faults(world, monkeypatch):
    return Faults(world.tables.client, monkeypatch)


def error(code, operation="?", **more):
    return ClientError({"Error": {"Code": code, "Message": code}, **more}, operation)


def cancelled(*codes):
    reasons = [{"Code": code} for code in codes]
    return error("TransactionCanceledException", CancellationReasons=reasons)


LOST = ConnectTimeoutError(endpoint_url="http://dynamodb")
CONFLICT = error("TransactionConflictException")


def everything(world, task):
    """Every request of every port, by name."""
    letter = DeadLetter(task.run_id, task.place, "echo", "", "why", NOW, KEEP)
    claim = OpenClaim(task.place.bucket, "c1", NOW)
    ledger, tasks = world.ledger, world.tasks
    return {
        "put": lambda: tasks.put(task),
        "put_keyed": lambda: tasks.put_keyed(task, key_of(task), NOW),
        "put_many_keyed": lambda: tasks.put_many_keyed([(task, key_of(task))], NOW),
        "get_key": lambda: tasks.get_key("", "k", NOW),
        "get": lambda: tasks.get(task.place),
        "get_many": lambda: tasks.get_many([task.pointer]),
        "page": lambda: tasks.page(task.place.bucket),
        "page_claimed": lambda: tasks.page_claimed(task.place.bucket, "c1"),
        "page_tasks": lambda: tasks.page_tasks(task.place.bucket, "", "echo", 9),
        "page_taken": lambda: tasks.page_taken(task.place.bucket),
        "open_claims": lambda: tasks.open_claims(task.place.bucket),
        "open_claim": lambda: tasks.open_claim(claim),
        "close_claim": lambda: tasks.close_claim(claim),
        "mark_sent": lambda: tasks.mark_sent(task.place, "near", NOW),
        "cancel": lambda: tasks.cancel(task, NOW, KEEP, NOW),
        "move": lambda: tasks.move(Move(task, task.moved(UNTIL, NOW, 1), "t", NOW, KEEP, NOW)),
        "bury": lambda: tasks.bury(letter),
        "bury_unreadable": lambda: tasks.bury_unreadable(task.place, "why", NOW, KEEP),
        "list_dead": lambda: tasks.list_dead(letter),
        "discard": lambda: tasks.discard(letter),
        "discard unreadable": lambda: tasks.discard(replace(letter, run_id=task.place.sk)),
        "page_dead": lambda: tasks.page_dead("2026-11-29", 3),
        "start": lambda: ledger.start(task.run_id, "a", NOW, UNTIL, KEEP),
        "finish": lambda: ledger.finish(task.run_id, "a", DONE, NOW),
        "fail": lambda: ledger.fail(task.run_id, "a", "no", NOW),
        "close": lambda: ledger.close(task.run_id, DONE, NOW, KEEP),
        "ledger get": lambda: ledger.get(task.run_id),
        "ledger get_many": lambda: ledger.get_many([task.run_id]),
        "known": lambda: ledger.known([task.run_id]),
        "cursor get": lambda: world.cursors.get(3),
        "begin": lambda: world.cursors.begin(3, NOW),
        "lease": lambda: world.cursors.lease(3, "a", NOW, UNTIL),
        "advance": lambda: world.cursors.advance(3, "a", NOW, NOW, 0),
        "audited": lambda: world.cursors.audited(3, "hour", NOW),
        "growth": world.settings.growth,
        "grow": lambda: world.settings.grow(Growth(8, NOW)),
        "jobs": world.settings.jobs,
        "announce_jobs": lambda: world.settings.announce_jobs(frozenset({"echo"})),
        "token_secret": world.settings.token_secret,
    }


@pytest.mark.parametrize(
    "failure", [LOST, error("ThrottlingException"), error("AccessDeniedException")], ids=str
)
def test_no_error_of_botocore_ever_leaves_a_port(world, new_task, monkeypatch, failure):
    def no_answer(*_):
        raise failure

    monkeypatch.setattr(world.tables.client, "_make_api_call", no_answer)
    task = new_task(key="k", payload="x" * 999, large=True)
    for request in everything(world, task).values():
        with pytest.raises(Unavailable):
            request()
    assert world.tasks.claim([task.place] * 3, "c1", NOW) == [Claim.UNKNOWN] * 3
    assert world.tasks.put_many([task, new_task()]) == [False, False]


def test_every_read_is_consistent_that_does_not_say_otherwise(world, new_task, faults):
    task = new_task(key="k", payload="x" * 999, large=True)
    world.tasks.put_keyed(task, key_of(task), NOW)
    world.cursors.begin(3, NOW)
    for name, request in everything(world, task).items():
        # A record a moment too new makes the audit send a message for nothing.
        if name != "known":
            request()
    reads = [
        (operation, part.get("ConsistentRead"))
        for operation, request in faults.calls
        if operation in {"Query", "GetItem", "BatchGetItem"}
        for part in request.get("RequestItems", {"": request}).values()
    ]
    assert {operation for operation, _ in reads} == {"Query", "GetItem", "BatchGetItem"}
    assert all(consistent is True for _, consistent in reads)


def test_a_key_that_changes_hands_during_a_move_is_left_alone(world, new_task, monkeypatch):
    task, other = new_task(key="k"), new_task(key="k")
    world.tasks.put(task)
    world.tasks.put_keyed(other, key_of(other), NOW)
    move = Move(task, task.moved(UNTIL, NOW, MINUTE), "t", NOW, KEEP, NOW)
    monkeypatch.setattr(world.tasks, "get_key", lambda *_: key_of(task))
    with pytest.raises(Unavailable):
        world.tasks.move(move)
    monkeypatch.undo()
    assert world.tasks.get_key("", "k", NOW) == key_of(other)
    assert world.tasks.move(move) is None


def test_a_create_whose_answer_got_lost_may_be_repeated(world, new_task, faults):
    task = new_task()
    faults.after("PutItem", LOST)
    with pytest.raises(Unavailable):
        world.tasks.put(task)
    world.tasks.put(task)
    assert world.tasks.get(task.place) == task


def test_a_keyed_create_whose_answer_got_lost_is_not_told_as_taken(world, new_task, faults):
    task = new_task(key="k")
    faults.after("TransactWriteItems", LOST)
    with pytest.raises(Unavailable):
        world.tasks.put_keyed(task, key_of(task), NOW)
    assert world.tasks.put_keyed(task, key_of(task), NOW + 1) is None


def test_many_keyed_creates_whose_answer_got_lost_are_not_told_as_taken(world, new_task, faults):
    pairs = [(task, key_of(task)) for task in (new_task(key="a"), new_task(key="b"))]
    faults.after("TransactWriteItems", LOST)
    with pytest.raises(Unavailable):
        world.tasks.put_many_keyed(pairs, NOW)
    assert world.tasks.put_many_keyed(pairs, NOW + 1) == [None, None]


@pytest.mark.parametrize(
    "passing",
    [
        [CONFLICT] * 3,
        [cancelled("None", "TransactionConflict")],
        [cancelled("ThrottlingError", "ProvisionedThroughputExceeded")] * 5,
    ],
)
def test_a_conflict_is_repeated_with_the_same_token(world, new_task, faults, passing):
    task = new_task(key="k")
    faults.before("TransactWriteItems", *passing)
    assert world.tasks.put_keyed(task, key_of(task), NOW) is None
    tokens = {request["ClientRequestToken"] for _, request in faults.calls}
    assert (len(faults.calls), len(tokens)) == (len(passing) + 1, 1)


@pytest.mark.parametrize("lasting", [cancelled("ValidationError", "None"), cancelled("None")])
def test_what_can_never_work_is_not_repeated(world, new_task, faults, lasting):
    task = new_task(key="k")
    faults.before("TransactWriteItems", lasting)
    with pytest.raises(Unavailable):
        world.tasks.put_keyed(task, key_of(task), NOW)
    assert len(faults.calls) == 1


def test_a_conflict_that_does_not_end_is_told(world, new_task, faults):
    faults.before("UpdateItem", *[CONFLICT] * 99)
    with pytest.raises(Unavailable):
        world.ledger.start("1x.0", "a", NOW, UNTIL, KEEP)
    assert len(faults.calls) == 6


def test_a_start_meets_a_conflict_with_a_cancel_and_goes_on(world, faults):
    faults.before("UpdateItem", CONFLICT, CONFLICT)
    assert world.ledger.start("1x.0", "a", NOW, UNTIL, KEEP).owner == "a"


def test_a_lost_answer_never_counts_an_attempt_twice(world, faults):
    faults.after("UpdateItem", LOST)
    with pytest.raises(Unavailable):
        world.ledger.start("1x.0", "a", NOW, UNTIL, KEEP)
    record = world.ledger.start("1x.0", "a", NOW + 1, UNTIL, KEEP)
    assert (record.owner, record.attempts) == ("a", 1)


def test_lost_answers_of_ends_are_found_done(world, faults):
    world.ledger.start("1x.0", "a", NOW, UNTIL, KEEP)
    faults.after("UpdateItem", LOST)
    with pytest.raises(Unavailable):
        world.ledger.fail("1x.0", "a", "no", NOW)
    assert world.ledger.fail("1x.0", "a", "no", NOW + 1)
    assert len(world.ledger.get("1x.0").failures) == 1
    world.ledger.start("1x.0", "b", NOW + 2, UNTIL, KEEP)
    faults.after("UpdateItem", LOST)
    with pytest.raises(Unavailable):
        world.ledger.finish("1x.0", "b", DONE, NOW + 3)
    assert world.ledger.finish("1x.0", "b", DONE, NOW + 4)


def test_items_left_out_of_a_batch_read_are_read_again(world, new_task, faults):
    tasks = [new_task(), new_task()]
    for task in tasks:
        world.tasks.put(task)
    table = world.tables.names.tasks
    key = {"bucket": {"S": tasks[0].place.bucket}, "sk": {"S": tasks[0].place.sk}}
    faults.answer(
        "BatchGetItem", {"Responses": {table: []}, "UnprocessedKeys": {table: {"Keys": [key]}}}
    )
    assert list(world.tasks.get_many([task.pointer for task in tasks])) == [tasks[0].place]


def test_items_that_stay_unread_are_told(world, new_task, monkeypatch):
    table, task = world.tables.names.tasks, new_task()
    unread = {"Responses": {}, "UnprocessedKeys": {table: {"Keys": [{"bucket": {"S": "x"}}]}}}
    monkeypatch.setattr(world.tables.client, "_make_api_call", lambda *_: unread)
    with pytest.raises(Unavailable):
        world.tasks.get_many([task.pointer])


def claimed_with(world, faults, places, responses):
    faults.answer("BatchExecuteStatement", {"Responses": responses})
    return world.tasks.claim(places, "mine", NOW)


def test_each_statement_of_a_claim_is_told_by_itself(world, new_task, faults, caplog):
    def failed(code, **item):
        values = {name: {"S": value} for name, value in item.items()}
        return {"Error": {"Code": code, "Message": "?", **({"Item": values} if item else {})}}

    answers = {
        Claim.WON: [
            {"TableName": "t"},
            failed("ConditionalCheckFailed", state="claimed", claim_id="mine"),
        ],
        Claim.LOST: [
            failed("ConditionalCheckFailed", state="claimed", claim_id="other"),
            failed("ConditionalCheckFailed", state="cancelled", claim_id="mine"),
            failed("ConditionalCheckFailed"),
            failed("ValidationError"),
        ],
        Claim.UNKNOWN: [
            failed("ThrottlingError"),
            failed("TransactionConflict"),
            failed("ProvisionedThroughputExceeded"),
            failed("InternalServerError"),
            failed("AccessDenied"),
            failed("DuplicateItem"),
            failed("A new one"),
        ],
    }
    expected = [claim for claim, told in answers.items() for _ in told]
    places = [new_task().place for _ in expected]
    responses = [one for told in answers.values() for one in told]
    assert claimed_with(world, faults, places, responses) == expected
    assert "refuses the statement" in caplog.text


def test_a_statement_without_an_answer_is_unknown(world, new_task, faults):
    places = [new_task().place for _ in range(3)]
    answers = [{"TableName": "t"}]
    assert claimed_with(world, faults, places, answers) == [
        Claim.WON,
        Claim.UNKNOWN,
        Claim.UNKNOWN,
    ]
