"""Arguments as texts of Python: values at limits, values that no caller should pass, and lists of every kind."""

from __future__ import annotations

from random import Random

EDGES = (
    "-1",
    "0",
    "1",
    "2**16",
    "2**20",
    "2**20 + 1",
    "2**31 - 1",
    "2**31",
    "2**32 - 1",
    "2**32",
    "2**53 - 1",
    "2**53",
    "2**63 - 1",
    "2**63",
    "2**64 - 1",
    "2**64",
    "-2**31",
    "-2**63",
    "-2**63 - 1",
    "10**30",
    "10**5000",
    "-10**5000",
)

_NUMBERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")
DTYPES = (*_NUMBERS, "bool", "complex64", "S3", "U3")

HOSTILE = (
    "None",
    "True",
    "False",
    "1.5",
    "3.0",
    "-0.0",
    "math.nan",
    "math.inf",
    "1e308",
    "1j",
    "Fraction(7, 2)",
    "Decimal('3')",
    "''",
    "'3'",
    "'\\0'",
    "'\\ud800'",
    "'日本語 עברית'",
    "'é' * 10**6",
    "b''",
    "b'3'",
    "bytearray(b'33')",
    "memoryview(b'33')",
    "[]",
    "[1]",
    "[None]",
    "['a']",
    "[[1], [2]]",
    "()",
    "{}",
    "{'a': 1}",
    "{1: 2}",
    "{None: None}",
    "{'\\ud800': 1}",
    "{1, 2}",
    "frozenset([1])",
    "range(3)",
    "range(-3, 3)",
    "range(10**9, 10**9 + 3)",
    "slice(0, 3)",
    "...",
    "NotImplemented",
    "object()",
    "int",
    "print",
    "math",
    "lambda *_: 1",
    "iter([1, 2])",
    "(i for i in range(3))",
    "h.raising()",
    "h.raising(1, 2)",
    "h.recursive()",
    "h.recursive_table()",
    "h.deep(100_000)",
    "h.closed()",
    "h.Index(3)",
    "h.Index(3, 4, 2**40, -1)",
    "h.Index(1.5)",
    "h.Index(None)",
    "h.Index(h.PlantedError('index'))",
    "h.Index(TypeError('no'))",
    "h.Index(10**40)",
    "h.Sequence([1, 2], 5)",
    "h.Sequence([1, 2], -1)",
    "h.Sequence([1, 2], 1.5)",
    "h.Sequence([1, 2], 10**30)",
    "h.Sequence([1, 2], 2**40)",
    "h.Sequence([1, 2], 2, h.PlantedError('iter'))",
    "h.Sequence([], 3)",
    "h.Table(['a', 'b'], 2, 1)",
    "h.Table(['a', 'a'], 7, 3)",
    "h.Table([1, None], 2, 'x')",
    "h.Table(['a'], 1, h.PlantedError('getitem'))",
    "h.Odd()",
    "[h.Odd()]",
    "{'a': h.Odd()}",
    "h.Text('feistel')",
    "h.Whole(3)",
    "h.Array([1, 2])",
    "h.Array(np.arange(3))",
    "h.Array(np.float64(3))",
    "h.Array(h.PlantedError('array'))",
    "h.Array('no array')",
    "np.array(3)",
    "np.array([])",
    "np.array([], dtype=np.int64)",
    "np.array([1, 2.5])",
    "np.array([True, False])",
    "np.array([None, 1], dtype=object)",
    "np.array([10**30])",
    "np.array(['a', 'b'])",
    "np.array([[1, 2], [3, 4]])",
    "np.zeros((0, 3), dtype=np.int64)",
    "np.zeros((1,) * 32, dtype=np.int8)",
    "np.array([(1, 2)], dtype='i4,f8')",
    "np.array(['2020-01-01'], dtype='M8[D]')",
    "np.arange(10)[::-2]",
    "np.arange(5, dtype='>i8')",
    "np.arange(5, dtype='>u2')",
    "np.arange(10).reshape(2, 5)[:, 1]",
    "np.array([-1, 2])",
    "np.array([2**63], dtype=np.uint64)",
    "np.array([2**64 - 1], dtype=np.uint64)",
    "np.array([-2**63])",
    "h.frozen([1, 2, 3])",
    "h.far(3)",
    "h.far(2**50)",
    "np.ma.array([1, 2], mask=[True, False])",
    "np.ma.masked",
    "np.datetime64('NaT')",
    "np.str_('feistel')",
    "np.longdouble(3)",
    "pa.array([1, 2, 3])",
    "pa.array([1, None])",
    "pa.chunked_array([[1], [2]])",
    "pa.array(['a'])",
    "pa.scalar(3)",
    "folder.path",
    "str(folder.path)",
    "weakref.ref(h)",
    "h.PlantedError",
    "samedeal",
    "samedeal.Sampler",
    "samedeal.order('feistel', 3)",
)


def hostile(r: Random) -> str:
    """A value that few parameters accept."""
    kind = r.random()
    if kind < 0.15:
        return f"np.{r.choice((*_NUMBERS, 'bool_', 'complex64'))}({r.choice((0, 1, 3))})"
    if kind < 0.25:
        return (
            f"np.array([{', '.join(str(r.randrange(3)) for _ in range(r.randrange(4)))}], dtype='{r.choice(DTYPES)}')"
        )
    return r.choice(HOSTILE)


def edge(r: Random) -> str:
    """A number at a limit of a width or range."""
    if r.random() < 0.1:
        return f"np.{r.choice(('int8(-1)', 'uint8(255)', 'int64(-1)', 'uint64(2**64 - 1)', 'int64(7)', 'int32(7)'))}"
    return r.choice(EDGES)


def count(r: Random, most: int) -> int:
    """A number up to `most`, of any size."""
    return min(most, r.choice((0, 1, 2, 3, most, most - 1, r.randint(0, max(most, 0)), r.randint(0, max(most, 0)))))


def a_list(r: Random, numbers: list[int]) -> str:
    """Whole numbers as a list of any kind."""
    kind = r.randrange(12)
    plain = str(numbers)
    if kind == 0 and all(0 <= one < 2**31 for one in numbers):
        return f"np.array({plain}, dtype=np.{r.choice(('int32', 'int64', 'uint32', 'uint64'))})"
    if kind == 1:
        return f"tuple({plain})"
    if kind == 2 and numbers:
        return f"pa.array({plain})"
    if kind == 3:
        return f"(one for one in {plain})"
    if kind == 4 and numbers and all(0 <= one < 2**31 for one in numbers):
        return f"np.array({plain}, dtype='>i8')"
    if kind == 5 and numbers:
        return f"h.frozen({plain})"
    return plain


def bad_list(r: Random, numbers: list[int]) -> str:
    """A list of whole numbers, in which one entry was replaced by a wrong one."""
    texts = [str(one) for one in numbers] or ["1"]
    texts[r.randrange(len(texts))] = r.choice((edge(r), hostile(r)))
    return f"[{', '.join(texts)}]"
