"""Registers tables one after the other with PyIceberg's register_table: what the bench compares itself with.

    python register_loop.py pointers.json        # {"main.default.t000": "s3://.../00001-....metadata.json", ...}

Prints {"tables": 84, "seconds": 6.65}. The time is that of the register calls; namespaces are made before it starts.
"""

import json
import sys
import time
from pathlib import Path

from lakehouse_env import build_catalog


def main() -> None:
    pointers: dict[str, str] = json.loads(Path(sys.argv[1]).read_text())
    catalog = build_catalog()
    for namespace in sorted({tuple(table.split(".")[:-1]) for table in pointers}):
        for depth in range(1, len(namespace) + 1):
            catalog.create_namespace_if_not_exists(namespace[:depth])
    start = time.perf_counter()
    for table, location in pointers.items():
        catalog.register_table(table, location)
    json.dump({"tables": len(pointers), "seconds": round(time.perf_counter() - start, 3)}, sys.stdout)


if __name__ == "__main__":
    main()
