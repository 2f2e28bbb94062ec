"""DynamoDB's condition expressions over plain items."""

import operator
from collections.abc import Callable, Mapping
from typing import Any

from minutero.testing.attribute_path import MISSING, kind_of, look
from minutero.testing.operands import Operands, malformed

COMPARES: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Conditions(Operands):
    """Whether a condition holds."""

    def holds(self, condition: str, item: Mapping[str, Any]) -> bool:
        """Whether an item ({}: none) fulfils a condition. Raises InvalidInput for one that is malformed."""
        self._begin(condition, item)
        held = self._either()
        self._end(condition)
        return held

    def _either(self) -> bool:
        held = self._both()
        while self._took("OR"):
            held = self._both() or held
        return held

    def _both(self) -> bool:
        held = self._unless()
        while self._took("AND"):
            held = self._unless() and held
        return held

    def _unless(self) -> bool:
        if self._took("NOT"):
            return not self._unless()
        if self._took("("):
            held = self._either()
            self._want(")")
            return held
        if len(self._tokens) > 1 and self._tokens[1] == "(" and self._tokens[0].lower() != "size":
            return self._function(self._next().lower())
        return self._compared(self._operand())

    def _function(self, name: str) -> bool:
        self._want("(")
        value = look(self._item, self._path())
        if name in ("attribute_exists", "attribute_not_exists"):
            self._want(")")
            return (value is MISSING) == (name == "attribute_not_exists")
        self._want(",")
        other = self._operand()
        self._want(")")
        match name:
            case "attribute_type":
                return bool(kind_of(value) == other)
            case "begins_with":
                return kind_of(value) == kind_of(other) == "S" and value.startswith(other)
            case "contains":
                return kind_of(value) in ("S", "L", "SS", "NS", "BS") and other in value
        raise malformed(f"{name} is no function of conditions")

    def _compared(self, left: Any) -> bool:
        if self._took("BETWEEN"):
            low = self._operand()
            self._want("AND")
            high = self._operand()
            return _ordered("<=", low, left) and _ordered("<=", left, high)
        if self._took("IN"):
            self._want("(")
            members = [self._operand()]
            while self._took(","):
                members.append(self._operand())
            self._want(")")
            return any(_same(left, one) for one in members)
        sign = self._next()
        right = self._operand()
        if sign in ("=", "<>"):
            return _same(left, right) == (sign == "=")
        if sign not in COMPARES:
            raise malformed(f"{sign!r} compares nothing")
        return _ordered(sign, left, right)


def _same(left: Any, right: Any) -> bool:
    return kind_of(left) == kind_of(right) != "" and left == right


def _ordered(sign: str, left: Any, right: Any) -> bool:
    return kind_of(left) == kind_of(right) in ("S", "N", "B") and COMPARES[sign](left, right)
