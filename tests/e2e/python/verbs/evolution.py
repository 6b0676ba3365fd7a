"""Changes of schema, partitioning, order and format of a table that has rows."""

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.table.sorting import NullOrder
from pyiceberg.transforms import parse_transform
from pyiceberg.types import IcebergType


def _type(text: str | dict) -> IcebergType:
    return IcebergType.model_validate(text)


def add_field(catalog: RestCatalog, table: str, path: list[str], type: str | dict, doc: str | None = None) -> None:
    with catalog.load_table(table).update_schema() as schema:
        schema.add_column(tuple(path), _type(type), doc=doc)


def rename_field(catalog: RestCatalog, table: str, path: list[str], to: str) -> None:
    with catalog.load_table(table).update_schema() as schema:
        schema.rename_column(tuple(path), to)


def widen_field(catalog: RestCatalog, table: str, path: list[str], type: str) -> None:
    with catalog.load_table(table).update_schema() as schema:
        schema.update_column(tuple(path), field_type=_type(type))


def make_optional(catalog: RestCatalog, table: str, path: list[str]) -> None:
    with catalog.load_table(table).update_schema() as schema:
        schema.make_column_optional(tuple(path))


def drop_field(catalog: RestCatalog, table: str, path: list[str]) -> None:
    with catalog.load_table(table).update_schema() as schema:
        schema.delete_column(tuple(path))


def move_field_first(catalog: RestCatalog, table: str, path: list[str]) -> None:
    with catalog.load_table(table).update_schema() as schema:
        schema.move_first(tuple(path))


def partition_by(catalog: RestCatalog, table: str, field: str, transform: str, name: str) -> None:
    with catalog.load_table(table).update_spec() as spec:
        spec.add_field(field, parse_transform(transform), name)


def stop_partitioning_by(catalog: RestCatalog, table: str, name: str) -> None:
    with catalog.load_table(table).update_spec() as spec:
        spec.remove_field(name)


def sort_descending_by(catalog: RestCatalog, table: str, field: str) -> None:
    with catalog.load_table(table).update_sort_order() as order:
        order.desc(field, parse_transform("identity"), NullOrder.NULLS_LAST)


def upgrade(catalog: RestCatalog, table: str, version: int) -> None:
    with catalog.load_table(table).transaction() as transaction:
        transaction.upgrade_table_version(version)
