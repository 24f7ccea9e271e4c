"""What an encoding may claim about itself, each in one sentence.

A claim is a class attribute of the encoding. It is believed only after it has been tested.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable
from typing import Any

CLAIMS = {
    "shift_invariant": "moving all positions by the same amount changes no score",
    "extrapolates": "has a value at any position, also past the length it was made for",
    "real_positions": "takes real-valued positions, such as time stamps",
    "causal_only": "is for causal attention alone: keys ahead of a query must be hidden",
    "cacheable_keys": "a key, once rotated, stays right when more tokens come",
    "prefers_near": (
        "a nearer key never scores lower than a farther one on the same side, all else equal"
    ),
    "bounded": (
        "what it adds to the input, or multiplies it by, stays in a fixed range at any position"
    ),
    "linear_offset": (
        "moving by k positions is one linear map of the vector, the same from every position"
    ),
    "goes_by_positions": (
        "goes by the positions it is given, not by where tokens stand in the tensor"
    ),
    "tells_order": "the order of the tokens changes the output",
    "tells_direction": "a key before and a key after, equally far, can be told apart",
}

HOOKS = {
    "embed": "input",
    "rotate": "queries and keys",
    "bias": "scores",
    "state_bias": "scores, by the tokens",
    "rescore": "scores, by content",
    "mix": "values",
}

MAX_POWER = 16  # in a formula: more would be no count of parameters


def _power(number: int, power: int) -> int:
    if not 0 <= power <= MAX_POWER:
        raise ValueError(f"a power from 0 to {MAX_POWER}, not {power}")
    return int(number**power)


_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: _power,
}


def evaluate_count(formula: str, numbers: dict[str, Any]) -> int:
    """Evaluate a `parameter_count`: a formula in +, -, *, //, ** over named whole numbers.

    (option == 'word') is 1 where an option is that word, else 0.

    >>> evaluate_count("2 * hidden + dim // 2", {"hidden": 3, "dim": 8})
    10
    >>> evaluate_count("heads * (slopes == 'learned')", {"heads": 4, "slopes": "learned"})
    4
    """
    try:
        return _evaluate(ast.parse(formula, mode="eval").body, numbers)
    except (SyntaxError, KeyError, TypeError, ValueError, ZeroDivisionError) as problem:
        raise ValueError(
            f"parameter_count = {formula!r} cannot be worked out: "
            f"{type(problem).__name__} {problem}.\n"
            "  It is a formula in +, -, *, //, **, (option == 'word') over whole numbers and: "
            f"{', '.join(numbers)}"
        ) from None


def _evaluate(node: ast.expr, numbers: dict[str, Any]) -> int:
    if isinstance(node, ast.Constant):
        return int(node.value)  # type: ignore[arg-type]
    if isinstance(node, ast.Name):
        return int(numbers[node.id])
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left = _evaluate(node.left, numbers)
        return _OPERATORS[type(node.op)](left, _evaluate(node.right, numbers))
    if (
        isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Name)
        and isinstance(node.ops[0], ast.Eq)
        and len(node.ops) == 1
    ):
        return int(numbers[node.left.id] == ast.literal_eval(node.comparators[0]))
    raise ValueError(ast.unparse(node))


def warn_of_learned(class_name: str) -> None:
    """Warn that a class states its parameter count under the name that it had before."""
    warnings.warn(
        f"{class_name}: write parameter_count in place of learned; the old name goes away.",
        FutureWarning,
        stacklevel=1,
    )
