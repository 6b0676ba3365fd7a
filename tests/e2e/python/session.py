"""A PyIceberg client that does what it is told: python session.py

Each line of standard input is one call, {"verb", "arguments"}: a function of the modules in verbs/, called with the catalog
and those arguments by name. Each line of standard output is its outcome, {"value"} or {"error", "message"}: the class and
text of what PyIceberg raised.
"""

import json
import sys
from datetime import date, datetime

from lakehouse_env import build_catalog
from verbs import conflicts, evolution, files, rows, snapshots, tables, views


def to_json(value: object) -> str:
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    return str(value)


MODULES = (tables, rows, files, conflicts, evolution, snapshots, views)


def find(verb: str):
    return next(getattr(module, verb) for module in MODULES if hasattr(module, verb))


def main() -> None:
    catalog = None
    for line in sys.stdin:
        call = json.loads(line)
        try:
            catalog = catalog or build_catalog()
            outcome = {"value": find(call["verb"])(catalog, **call["arguments"])}
        except Exception as error:  # whatever it is, it is the outcome
            outcome = {"error": type(error).__name__, "message": str(error)}
        print(json.dumps(outcome, default=to_json), flush=True)


if __name__ == "__main__":
    main()
