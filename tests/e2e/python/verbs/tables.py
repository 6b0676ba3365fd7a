"""Namespaces and tables as a whole. Schemas, specs and orders come in the JSON of Iceberg."""

import json

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.sorting import SortOrder

from .values import to_arrow


def create_namespace(catalog: RestCatalog, namespace: str, properties: dict[str, str] | None = None) -> None:
    catalog.create_namespace(namespace, properties or {})


def list_namespaces(catalog: RestCatalog, parent: str = "") -> list[str]:
    return sorted(".".join(name) for name in catalog.list_namespaces(parent or ()))


def namespace_properties(catalog: RestCatalog, namespace: str) -> dict[str, str]:
    return catalog.load_namespace_properties(namespace)


def drop_namespace(catalog: RestCatalog, namespace: str) -> None:
    catalog.drop_namespace(namespace)


def _definition(schema: dict, partition: list[dict] = (), sort: list[dict] = (), properties: dict | None = None) -> dict:
    return {
        "schema": Schema.model_validate({"schema-id": 0, **schema}),
        "partition_spec": PartitionSpec.model_validate({"spec-id": 0, "fields": list(partition)}),
        "sort_order": SortOrder.model_validate({"order-id": 1 if sort else 0, "fields": list(sort)}),
        "properties": properties or {},
    }


def create(catalog: RestCatalog, table: str, **definition) -> None:
    catalog.create_table(table, **_definition(**definition))


def create_with_rows(catalog: RestCatalog, table: str, rows: list[dict], fails: bool = False, **definition) -> bool:
    """A staged create: table and first rows in one commit. Returns whether others saw the table before that."""
    transaction = catalog.create_table_transaction(table, **_definition(**definition))
    with transaction:
        transaction.append(to_arrow(rows, transaction.table_metadata.schema()))
        seen = catalog.table_exists(table)
        if fails:
            raise RuntimeError("the writer fails before the commit")
    return seen


def race_of_creates(catalog: RestCatalog, table: str, rows: list[dict], **definition) -> None:
    """Two staged creates of one name, of which the second commits first."""
    slow, quick = (catalog.create_table_transaction(table, **_definition(**definition)) for _ in range(2))
    quick.append(to_arrow(rows, quick.table_metadata.schema()))
    quick.commit_transaction()
    slow.commit_transaction()


def metadata(catalog: RestCatalog, table: str) -> dict:
    loaded: TableMetadata = catalog.load_table(table).metadata
    return json.loads(loaded.model_dump_json())


def metadata_location(catalog: RestCatalog, table: str) -> str:
    return catalog.load_table(table).metadata_location


def storage_keys(catalog: RestCatalog, table: str) -> dict[str, str]:
    """The S3 keys that reading and writing this table goes with."""
    return {name: value for name, value in catalog.load_table(table).io.properties.items() if name.startswith("s3.")}


def read_object_with_keys_of(catalog: RestCatalog, table: str, location: str) -> int:
    with catalog.load_table(table).io.new_input(location).open() as stream:
        return len(stream.read())


def list_tables(catalog: RestCatalog, namespace: str) -> list[str]:
    return sorted(".".join(name) for name in catalog.list_tables(namespace))


def exists(catalog: RestCatalog, table: str) -> bool:
    return catalog.table_exists(table)


def rename(catalog: RestCatalog, table: str, to: str) -> None:
    catalog.rename_table(table, to)


def drop(catalog: RestCatalog, table: str) -> None:
    catalog.drop_table(table)


def purge(catalog: RestCatalog, table: str) -> None:
    catalog.purge_table(table)


def register(catalog: RestCatalog, table: str, location: str, overwrite: bool = False) -> None:
    catalog.register_table(table, location, overwrite)


def set_properties(catalog: RestCatalog, table: str, updates: dict[str, str], removals: list[str] = ()) -> None:
    with catalog.load_table(table).transaction() as transaction:
        transaction.set_properties(updates)
        transaction.remove_properties(*removals)
