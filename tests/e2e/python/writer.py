"""Appends to a table that others write to as well: python writer.py <table> <writer> <appends> <rows of each>

Row i of append n is {"writer": w, "append": n, "row": i}. Whatever happens to a commit - a conflict, a lost answer, a server
that is gone - the writer looks whether it is in the table, by the mark in its summary, and tries again if it is not.

Prints {"conflicts": 3, "refusals": 1, "interruptions": 1}: commits that came second and that PyIceberg tried again,
appends that it gave up for that, and calls that failed without an answer to rely on.
"""

import json
import logging
import sys
import time

import pyarrow as pa
from lakehouse_env import build_catalog
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException, ServerError
from pyiceberg.table import Table
from requests.exceptions import RequestException


class Conflicts(logging.Handler):
    """PyIceberg tries again by itself, and tells only its log."""

    count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += "concurrent update" in record.getMessage()


def has(table: Table, mark: str) -> bool:
    return any(snapshot.summary.additional_properties.get("mark") == mark for snapshot in table.snapshots())


def main() -> None:
    name, writer, appends, size = sys.argv[1], *map(int, sys.argv[2:])
    conflicts = Conflicts()
    logging.getLogger("pyiceberg.table").addHandler(conflicts)
    refusals = interruptions = 0
    for number in range(appends):
        mark = f"{writer}-{number}"
        rows = [{"writer": writer, "append": number, "row": row} for row in range(size)]
        while True:
            try:
                table = build_catalog().load_table(name)
                if has(table, mark):
                    break
                table.append(pa.Table.from_pylist(rows, schema=table.schema().as_arrow()), {"mark": mark})
            except CommitFailedException:
                refusals += 1
            except (RequestException, CommitStateUnknownException, ServerError):
                interruptions += 1
                time.sleep(0.1)
    json.dump({"conflicts": conflicts.count, "refusals": refusals, "interruptions": interruptions}, sys.stdout)


if __name__ == "__main__":
    main()
