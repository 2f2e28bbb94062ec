"""Faults put between a service and an in-memory store, and a record of the calls."""

from collections import defaultdict, deque

from minutero.domain.exchanged import Claim, Sent
from minutero.errors import Unavailable


class Faulty:
    """Passes every call on to `target` and keeps it in `calls`, unless it was told otherwise.

    A replacement is called with the real method and the call's arguments, and answers in its stead.
    """

    def __init__(self, target):
        self.target = target
        self.calls = []
        self._next = defaultdict(deque)
        self._always = {}

    def next(self, method, *replacements):
        """The next calls of a method go to these, one each."""
        self._next[method].extend(replacements)

    def always(self, method, replacement):
        """Every call of a method goes there, until `heal`."""
        self._always[method] = replacement

    def heal(self):
        """As if nothing had ever been wrong."""
        self._next.clear()
        self._always.clear()

    def called(self, *methods):
        """The arguments of the calls of these methods, in order."""
        return [args for name, args in self.calls if name in methods]

    def names(self, *methods):
        """The names of the calls of these methods, in order."""
        return [name for name, _ in self.calls if name in methods]

    def __getattr__(self, method):
        real = getattr(self.target, method, works)
        if not callable(real):
            return real

        def call(*args, **kwargs):
            self.calls.append((method, (*args, *kwargs.values())))
            if self._next[method]:
                return self._next[method].popleft()(real, *args, **kwargs)
            if method in self._always:
                return self._always[method](real, *args, **kwargs)
            return real(*args, **kwargs)

        return call

    def __len__(self):
        return len(self.target)


def works(real, *args, **kwargs):
    """No fault: for the calls before the one that fails."""
    return real(*args, **kwargs)


def is_down(real, *args, **kwargs):
    """The request never arrives."""
    raise Unavailable("down")


def loses_its_answer(real, *args, **kwargs):
    """The request takes effect, its answer gets lost."""
    real(*args, **kwargs)
    raise Unavailable("the answer was lost")


def fails_all(real, messages):
    """SendMessageBatch answers 200, every entry of it `Failed` by the queue's fault."""
    return [Sent.FAILED] * len(messages)


def refuses_all(real, messages):
    """SendMessageBatch answers 200, every entry of it `Failed` by the sender's fault."""
    return [Sent.REFUSED] * len(messages)


def answers_unknown(real, places, claim_id, at, taken_from=None):
    """BatchExecuteStatement answers 200, every statement of it throttled; none took effect."""
    return [Claim.UNKNOWN] * len(places)


def takes_effect_unknown(real, places, claim_id, at, taken_from=None):
    """As `answers_unknown`, and every statement took effect all the same."""
    real(places, claim_id, at, taken_from)
    return [Claim.UNKNOWN] * len(places)


def process_dies(real, *args, **kwargs):
    """The process ends before the request."""
    raise ProcessDied


class ProcessDied(BaseException):
    """What no `except Exception` sees."""
