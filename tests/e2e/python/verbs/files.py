"""Files that become part of a table without its rows passing through the client."""

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.table.statistics import StatisticsFile


def write_parquet(catalog: RestCatalog, table: str, name: str, rows: list[dict]) -> str:
    """A file as a program writes it that does not know of Iceberg, in the folder and with the keys of the table."""
    loaded = catalog.load_table(table)
    location = f"{loaded.location()}/data/{name}"
    with loaded.io.new_output(location).create() as stream:
        pq.write_table(pa.Table.from_pylist(rows), stream)
    return location


def add_files(catalog: RestCatalog, table: str, locations: list[str]) -> None:
    catalog.load_table(table).add_files(locations)


def set_statistics(catalog: RestCatalog, table: str, statistics: dict) -> None:
    with catalog.load_table(table).update_statistics() as update:
        update.set_statistics(StatisticsFile.model_validate(statistics))


def remove_statistics(catalog: RestCatalog, table: str, snapshot: int) -> None:
    with catalog.load_table(table).update_statistics() as update:
        update.remove_statistics(snapshot)
