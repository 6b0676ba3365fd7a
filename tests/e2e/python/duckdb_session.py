"""DuckDB with the catalog attached as `lakehouse`: python duckdb_session.py

Each line of standard input is {"verb": "sql", "arguments": {"query"}}; each line of standard output is {"value"}, the rows of
the answer as objects, or {"error", "message"}: what DuckDB raised.
"""

import importlib
import json
import os
import sys
from pathlib import Path

import duckdb


def load_packaged_extension(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    package = importlib.import_module(f"duckdb_extension_{name}")
    folder = Path(package.__file__).parent / "extensions" / f"v{duckdb.__version__}"
    connection.execute(f"LOAD '{folder / name}.duckdb_extension'")


def connect() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"autoinstall_known_extensions": False})
    for name in ("httpfs", "avro", "iceberg"):
        load_packaged_extension(connection, name)
    connection.execute(
        f"""ATTACH '{os.environ["LAKEHOUSE_REST_WAREHOUSE"]}' AS lakehouse (TYPE iceberg,
            ENDPOINT '{os.environ["LAKEHOUSE_REST_URI"]}', TOKEN '{os.environ["LAKEHOUSE_CATALOG_TOKEN"]}',
            SUPPORT_NESTED_NAMESPACES true)"""
    )
    return connection


def main() -> None:
    connection = None
    for line in sys.stdin:
        query = json.loads(line)["arguments"]["query"]
        try:
            connection = connection or connect()
            answer = connection.execute(query)
            names = [column[0] for column in answer.description or ()]
            outcome = {"value": [dict(zip(names, row)) for row in answer.fetchall()]}
        except Exception as error:  # whatever it is, it is the outcome
            outcome = {"error": type(error).__name__, "message": str(error)}
        print(json.dumps(outcome, default=str), flush=True)


if __name__ == "__main__":
    main()
