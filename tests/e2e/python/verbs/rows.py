"""What is in a table."""

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.types import StringType

from .values import to_arrow


def append(catalog: RestCatalog, table: str, rows: list[dict], branch: str = "main") -> None:
    loaded = catalog.load_table(table)
    loaded.append(to_arrow(rows, loaded.schema()), branch=branch)


def overwrite(catalog: RestCatalog, table: str, rows: list[dict], where: str | None = None) -> None:
    loaded = catalog.load_table(table)
    loaded.overwrite(to_arrow(rows, loaded.schema()), overwrite_filter=where or AlwaysTrue())


def overwrite_partitions(catalog: RestCatalog, table: str, rows: list[dict]) -> None:
    """Replaces the partitions that the rows fall into."""
    loaded = catalog.load_table(table)
    loaded.dynamic_partition_overwrite(to_arrow(rows, loaded.schema()))


def delete(catalog: RestCatalog, table: str, where: str) -> None:
    catalog.load_table(table).delete(where)


def upsert(catalog: RestCatalog, table: str, rows: list[dict], by: list[str]) -> dict[str, int]:
    loaded = catalog.load_table(table)
    result = loaded.upsert(to_arrow(rows, loaded.schema()), join_cols=by)
    return {"updated": result.rows_updated, "inserted": result.rows_inserted}


def rows(
    catalog: RestCatalog,
    table: str,
    where: str | None = None,
    fields: list[str] = ("*",),
    snapshot: int | None = None,
    ref: str | None = None,
    at: int | None = None,
) -> list[dict]:
    """Rows now, or those of a snapshot, of a branch or tag, or at a time in milliseconds since 1970."""
    loaded = catalog.load_table(table)
    if at is not None:
        snapshot = loaded.snapshot_as_of_timestamp(at).snapshot_id
    scan = loaded.scan(where or AlwaysTrue(), selected_fields=tuple(fields), snapshot_id=snapshot)
    return (scan.use_ref(ref) if ref else scan).to_arrow().to_pylist()


def planned_files(catalog: RestCatalog, table: str, where: str) -> list[str]:
    """The data files that a reader of these rows has to open."""
    return sorted(task.file.file_path for task in catalog.load_table(table).scan(where).plan_files())


def change_all_at_once(catalog: RestCatalog, table: str, rows: list[dict], delete: str, properties: dict[str, str]) -> None:
    """A transaction of four changes: a field `note`, properties, rows gone, rows added."""
    loaded = catalog.load_table(table)
    with loaded.transaction() as transaction:
        with transaction.update_schema() as schema:
            schema.add_column("note", StringType())
        transaction.set_properties(properties)
        transaction.delete(delete)
        transaction.append(to_arrow(rows, transaction.table_metadata.schema()))
