"""A client commits to a table as it was before somebody else's commit."""

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.types import StringType

from .values import to_arrow


def append_late(catalog: RestCatalog, table: str, first: list[dict], second: list[dict]) -> None:
    late, quick = catalog.load_table(table), catalog.load_table(table)
    quick.append(to_arrow(first, quick.schema()))
    late.append(to_arrow(second, late.schema()))


def delete_late(catalog: RestCatalog, table: str, first: str, second: str) -> None:
    late, quick = catalog.load_table(table), catalog.load_table(table)
    quick.delete(first)
    late.delete(second)


def add_field_late(catalog: RestCatalog, table: str, first: str, second: str) -> None:
    late, quick = catalog.load_table(table), catalog.load_table(table)
    for loaded, field in ((quick, first), (late, second)):
        with loaded.update_schema() as schema:
            schema.add_column(field, StringType())


def append_after_it_was_dropped(catalog: RestCatalog, table: str, rows: list[dict], made_anew: bool) -> None:
    late = catalog.load_table(table)
    catalog.drop_table(table)
    if made_anew:
        catalog.create_table(table, late.schema())
    late.append(to_arrow(rows, late.schema()))
