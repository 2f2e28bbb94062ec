"""The threads of a process: calls side by side."""

from itertools import count
from threading import Event, Thread

import pytest

from minutero.wiring.process import THREADS, side_by_side


def test_answers_come_in_the_order_of_the_arguments():
    later = [Event() for _ in range(THREADS)]

    def call(number):
        if number < THREADS - 1:
            later[number + 1].wait()
        later[number % THREADS].set()
        return -number

    numbers = range(3 * THREADS)
    assert side_by_side(call, iter(numbers)) == [-number for number in numbers]


def test_nothing_to_call_is_no_answer():
    assert side_by_side(str, []) == []


def test_as_many_calls_are_in_flight_as_there_are_threads():
    waiting, all_here = count(1), Event()

    def call(_):
        if next(waiting) == THREADS:
            all_here.set()
        return all_here.wait(30)

    assert all(side_by_side(call, range(THREADS)))


@pytest.mark.parametrize("failing", [0, 1, THREADS, 3 * THREADS - 1])
def test_a_failure_is_raised_when_nothing_is_in_flight_any_more(failing):
    begun, ended = [], []

    def call(number):
        begun.append(number)
        if number == failing:
            raise LookupError(number)
        ended.append(number)

    with pytest.raises(LookupError, match=f"^{failing}$"):
        side_by_side(call, range(3 * THREADS))
    assert sorted(ended) == sorted(set(begun) - {failing})


def test_after_a_failure_no_more_calls_are_begun():
    failed, begun = Event(), []

    def call(number):
        begun.append(number)
        if number == 0:
            failed.set()
            raise LookupError
        failed.wait()
        raise LookupError

    with pytest.raises(LookupError):
        side_by_side(call, range(100 * THREADS))
    assert len(begun) <= THREADS


def test_calls_within_calls_do_not_wait_for_each_other_for_good():
    answers = []

    def call(number):
        return sum(side_by_side(lambda inner: number * inner, range(THREADS)))

    thread = Thread(
        target=lambda: answers.extend(side_by_side(call, range(4 * THREADS))), daemon=True
    )
    thread.start()
    thread.join(60)
    assert answers == [number * sum(range(THREADS)) for number in range(4 * THREADS)]
