"""Weights that a text has as decimal fractions, and weights that are floats: section 14 of SPEC."""

from __future__ import annotations

import re
import struct
from fractions import Fraction
from itertools import count
from math import floor, frexp, gcd, isinf, isnan
from typing import NamedTuple

from .base import MAX_SAMPLES, Failure

DECIMAL = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
TOTAL = 10**15
MAX_DIGITS = 19
FAR = 100
"""Weights whose digits are this far apart have no common proportion below 2^53."""


class Decimal(NamedTuple):
    """A decimal number: `digits`, whose last one is not 0, times ten to the power `exponent`."""

    digits: int
    exponent: int = 0


def number(digits: str) -> int:
    """The number that digits stand for. Of 40 digits and more, only the first 40 are read: such a number is beyond all
    ranges, and Python refuses very long ones."""
    return int(digits) if len(digits) < 40 else int(digits[:40])


def normal(digits: int, exponent: int = 0) -> Decimal:
    while digits > 0 and digits % 10 == 0:
        digits, exponent = digits // 10, exponent + 1
    return Decimal(digits, exponent if digits > 0 else 0)


def decimal(found: re.Match[str], field: str, place: str = "") -> Decimal:
    """The number in a match of DECIMAL."""
    sign, before, fraction, exponent = found.groups(default="")
    power = max(-(2**31), min(2**31 - 1, number(exponent or "0")))
    text = before + fraction
    kept = text.rstrip("0")
    digits = normal(number(kept.lstrip("0") or "0"), power - len(fraction) + len(text) - len(kept))
    if sign or digits.digits >= 10**MAX_DIGITS:
        raise Failure("out-of-range", field, f"{found[0]}{place}")
    return digits


def whole(weights: list[Decimal], field: str, *, is_list: bool = False) -> list[int]:
    """Whole numbers in proportion to the weights, of which at least one has a fraction or an exponent."""
    there = [weight for weight in weights if weight.digits > 0]
    if not there:
        return [0] * len(weights)
    least = min(weight.exponent for weight in there)
    if max(weight.exponent for weight in there) - least < FAR:
        exact = [weight.digits * 10 ** (weight.exponent - least) if weight.digits else 0 for weight in weights]
        divisor = gcd(*exact)
        if sum(exact) // divisor <= MAX_SAMPLES:
            return [weight // divisor for weight in exact]
    top = max(weight.exponent + len(str(weight.digits)) for weight in there)
    found = rounded(weights, top)
    for at, (weight, one) in enumerate(zip(weights, found, strict=True)):
        if weight.digits > 0 and one == 0:
            place = f" (at index {at})" if is_list else ""
            raise Failure("out-of-range", field, f"{weight.digits}e{weight.exponent}{place}")
    return found


def rounded(weights: list[Decimal], top: int) -> list[int]:
    """The weights as whole numbers, rounded by the largest remainder. The greatest of the given weights is below
    10^top."""
    parts = []
    for digits, exponent in weights:
        shift = exponent + MAX_DIGITS - top
        parts.append(digits * 10**shift if shift >= 0 else digits // 10 ** min(-shift, FAR))
    found = [TOTAL * part // sum(parts) for part in parts]
    missing = TOTAL - sum(found)
    for at in sorted(range(len(parts)), key=lambda at: (-(TOTAL * parts[at] % sum(parts)), at))[:missing]:
        found[at] += 1
    divisor = gcd(*found)
    return [one // divisor for one in found]


def whole_weights(bits: list[int]) -> list[int]:
    """Whole numbers in proportion to floats, which are given as their bits."""
    exact: list[Fraction] = []
    for at, pattern in enumerate(bits):
        (weight,) = struct.unpack("<d", struct.pack("<Q", pattern))
        words = "NaN" if isnan(weight) else "an infinite number" if isinf(weight) else "a negative number"
        if words != "a negative number" or weight < 0:
            raise Failure("out-of-range", "weights", f"{words} (at index {at})")
        exact.append(Fraction(weight))
    tried = (decimals(exact, 10**k) for k in range(16))
    found = next((one for one in tried if one is not None), None)
    if found is None:
        found = rounded_floats(exact)
        for at, (weight, one) in enumerate(zip(exact, found, strict=True)):
            if weight > 0 and one == 0:
                raise Failure("out-of-range", "weights", f"a number that would become 0 (at index {at})")
    return [one // max(1, gcd(*found)) for one in found]


def decimals(weights: list[Fraction], power: int) -> list[int] | None:
    """The weights times a power of ten, if each is the float nearest to a decimal number with so many digits."""
    found = [floor(weight * power + Fraction(1, 2)) for weight in weights]
    for weight, one in zip(weights, found, strict=True):
        # The last of 53 bits, or of those of a number below 2^-1022.
        last = max(frexp(weight)[1] - 53, -1074)
        if weight and not abs(one - weight * power) < Fraction(2) ** (last - 1) * power:
            return None
    return found if sum(found) < 2**52 else None


def rounded_floats(weights: list[Fraction]) -> list[int]:
    top = max(frexp(weight)[1] for weight in weights if weight)
    parts = [floor(weight * Fraction(2) ** (63 - top)) for weight in weights]
    for shift in count():
        found = [floor(Fraction(part, 2**shift) + Fraction(1, 2)) for part in parts]
        if sum(found) <= MAX_SAMPLES:
            return found
    raise AssertionError
