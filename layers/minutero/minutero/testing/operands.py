"""What DynamoDB's expressions are made of: tokens, placeholders, paths, operands.

The language: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.html
Not known here: reserved words, which DynamoDB refuses where they stand without a `#` before them.
"""

import re
from collections.abc import Mapping
from typing import Any

from minutero.errors import InvalidInput
from minutero.testing.attribute_path import MISSING, Path, kind_of, look

TOKEN = re.compile(r"\s*(<>|<=|>=|[=<>(),+\-]|\[\d+\]|\.|[#:]?\w+)")


class Operands:
    """The expressions of one write, with their placeholders, read from left to right."""

    def __init__(self, names: Mapping[str, str], values: Mapping[str, Any]) -> None:
        self._names = names
        self._values = values
        self._used: set[str] = set()
        self._tokens: list[str] = []
        self._item: Mapping[str, Any] = {}

    def check_used(self) -> None:
        """DynamoDB refuses placeholders that no expression uses."""
        if unused := {*self._names, *self._values} - self._used:
            raise malformed(f"no expression uses {', '.join(sorted(unused))}")

    # --- tokens

    def _begin(self, text: str, item: Mapping[str, Any]) -> None:
        self._item = item
        self._tokens, at = [], 0
        while text[at:].strip():
            found = TOKEN.match(text, at)
            if found is None:
                raise malformed(f"{text!r} cannot be read from {text[at:]!r} on")
            self._tokens.append(found[1])
            at = found.end()

    def _end(self, text: str) -> None:
        if self._tokens:
            raise malformed(f"{text!r} ends before {self._tokens[0]!r}")

    def _next(self) -> str:
        if not self._tokens:
            raise malformed("an expression ends too soon")
        return self._tokens.pop(0)

    def _took(self, *wanted: str) -> bool:
        if self._tokens and self._tokens[0].upper() in wanted:
            self._tokens.pop(0)
            return True
        return False

    def _want(self, token: str) -> None:
        if not self._took(token):
            raise malformed(f"{token} is missing")

    # --- operands

    def _operand(self) -> Any:
        """The value of a placeholder, a path, or the size of one."""
        if self._tokens[:2] and self._tokens[0].lower() == "size" and self._tokens[1:2] == ["("]:
            self._next()
            self._want("(")
            value = look(self._item, self._path())
            self._want(")")
            return MISSING if kind_of(value) in ("", "N", "BOOL", "NULL") else len(value)
        if self._tokens and self._tokens[0][0] == ":":
            return self._value()
        return look(self._item, self._path())

    def _value(self) -> Any:
        name = self._next()
        if name not in self._values:
            raise malformed(f"{name} has no value")
        self._used.add(name)
        return self._values[name]

    def _path(self) -> Path:
        path: list[str | int] = [self._name()]
        while self._tokens and (self._tokens[0] == "." or self._tokens[0][0] == "["):
            step = self._next()
            path.append(self._name() if step == "." else int(step[1:-1]))
        return path

    def _name(self) -> str:
        token = self._next()
        if token[0] == "#":
            self._used.add(token)
            if token not in self._names:
                raise malformed(f"{token} has no name")
            return self._names[token]
        if not token[0].isalpha() and token[0] != "_":
            raise malformed(f"{token!r} is no name of an attribute")
        return token


def malformed(what: str) -> InvalidInput:
    """The refusal of an expression, as of everything that DynamoDB would never take."""
    return InvalidInput(
        "refused_writes", f"DynamoDB never takes these writes, and made none: {what}"
    )
