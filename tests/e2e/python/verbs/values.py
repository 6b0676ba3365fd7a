"""Rows in JSON as Arrow takes them: dates, times and decimals come as text, maps as lists of pairs."""

import re
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
from pyiceberg.schema import Schema

READERS = {
    "date": date.fromisoformat,
    "timestamp": datetime.fromisoformat,
    "timestamptz": datetime.fromisoformat,
    "decimal": Decimal,
    "map": lambda pairs: [tuple(pair) for pair in pairs],
}


def to_arrow(rows: list[dict], schema: Schema) -> pa.Table:
    readers = {field.name: READERS.get(re.match(r"\w+", str(field.field_type))[0]) for field in schema.fields}

    def read(name: str, value: object) -> object:
        reader = readers.get(name)
        return value if value is None or reader is None else reader(value)

    typed = [{name: read(name, value) for name, value in row.items()} for row in rows]
    return pa.Table.from_pylist(typed, schema=schema.as_arrow())
