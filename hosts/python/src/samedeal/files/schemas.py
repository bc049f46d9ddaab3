"""One schema for files that other programs have written, each in its own way."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa


def check_names(schema: pa.Schema) -> None:
    """Raises an error unless all names of columns, and of their parts, are text.

    Raises:
        UnicodeDecodeError: A name is not UTF-8.
    """
    waiting = list(schema)
    while waiting:
        field = waiting.pop()
        # Reading the name decodes it, which raises the error.
        str(field.name)
        waiting.extend(field.type.field(i) for i in range(field.type.num_fields))


def readable(kind: pa.DataType) -> pa.DataType:
    """The type in which a column is read: one whose rows Arrow can take in any order, from several files at once."""
    types = pa.types
    if types.is_string_view(kind):
        return pa.string()
    if types.is_binary_view(kind):
        return pa.binary()
    if types.is_dictionary(kind):
        # The dictionaries of several files together may have too many values for indices of 8 or 16 bits.
        index = kind.index_type if kind.index_type.bit_width >= 32 else pa.int32()
        return pa.dictionary(index, readable(kind.value_type), kind.ordered)
    if types.is_list(kind):
        return pa.list_(_inner(kind.value_field))
    if types.is_large_list(kind):
        return pa.large_list(_inner(kind.value_field))
    if types.is_fixed_size_list(kind):
        return pa.list_(_inner(kind.value_field), kind.list_size)
    if types.is_map(kind):
        return pa.map_(_inner(kind.key_field), _inner(kind.item_field), kind.keys_sorted)
    if types.is_struct(kind):
        return pa.struct([_inner(kind.field(i)) for i in range(kind.num_fields)])
    return kind


def _inner(field: pa.Field) -> pa.Field:
    return field.with_type(readable(field.type)).remove_metadata()


def unified(schemas: Sequence[pa.Schema], paths: Sequence[str]) -> pa.Schema:
    """The schema in which all files are read: the columns of the first one, each in a type that holds all values.

    The other files may have the columns in another order, and in other types, if one type holds all values unchanged:
    another width, sign, unit of time or kind of list, or null.

    Raises:
        OSError: A file has other columns, or a type that cannot be unified with the type of another file.
    """
    first = pa.schema([_inner(field) for field in schemas[0]])
    whole, seen = first, {schemas[0]: 0}
    sources = dict.fromkeys(first.names, 0)
    for number, schema in enumerate(schemas):
        if schema in seen:
            continue
        seen[schema] = number
        _check_names(schemas[0].names, schema.names, paths[0], paths[number])
        for at, name in enumerate(first.names):
            own, known = _inner(schema.field(name)), whole.field(at)
            made = _merged(known, own)
            if made is None:
                source = sources[name]
                told = f"column {name!r} is {schema.field(name).type} here, and {schemas[source].field(name).type} in"
                raise OSError(f"{paths[number]}: {told} {paths[source]}: types that do not go together")
            if made.type != known.type:
                sources[name] = number
            whole = whole.set(at, made)
    return whole


def _check_names(known: list[str], names: list[str], first: str, path: str) -> None:
    missing = [repr(name) for name in known if name not in names]
    more = [repr(name) for name in names if name not in known]
    if not missing and not more and len(known) == len(names) == len(set(names)):
        return
    told = [f"has no column {', '.join(missing)}"] if missing else []
    told += [f"has column {', '.join(more)}"] if more else []
    raise OSError(f"{path}: {' and '.join(told) or 'has a column twice'}, unlike {first}; read `columns` that all have")


def _merged(known: pa.Field, own: pa.Field) -> pa.Field | None:
    """A field that holds all values of both fields unchanged; None if there is none."""
    if known.equals(own):
        return known
    try:
        made = pa.unify_schemas([pa.schema([known]), pa.schema([own])], promote_options="permissive").field(0)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None
    return made if _holds(made.type, known.type) and _holds(made.type, own.type) else None


def _holds(wide: pa.DataType, kind: pa.DataType) -> bool:
    """Whether the type `wide` can hold each value of the type `kind`, as a value of the same kind."""
    types = pa.types
    if wide == kind or types.is_null(kind):
        return True
    if types.is_integer(wide) and types.is_integer(kind):
        if types.is_signed_integer(wide) == types.is_signed_integer(kind):
            return bool(wide.bit_width >= kind.bit_width)
        return bool(types.is_signed_integer(wide) and wide.bit_width > kind.bit_width)
    if types.is_struct(wide) and types.is_struct(kind):
        fields = {field.name: field.type for field in kind}
        names = {field.name for field in wide}
        return names == fields.keys() and all(_holds(field.type, fields[field.name]) for field in wide)
    if any(types.is_dictionary(one) for one in (wide, kind)):
        both = types.is_dictionary(wide) and types.is_dictionary(kind)
        return both and wide.ordered == kind.ordered and _holds(wide.value_type, kind.value_type)
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    if any(is_list(wide) for is_list in lists) and any(is_list(kind) for is_list in lists):
        return _holds(wide.value_type, kind.value_type)
    alike = (
        (types.is_floating,),
        (types.is_string, types.is_large_string),
        (types.is_binary, types.is_large_binary, types.is_fixed_size_binary),
        (types.is_decimal,),
        (types.is_timestamp,),
        (types.is_duration,),
        (types.is_time,),
    )
    return any(any(is_one(wide) for is_one in group) and any(is_one(kind) for is_one in group) for group in alike)
