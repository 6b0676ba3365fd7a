"""Views: a query under a name."""

import json
import time

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.schema import Schema
from pyiceberg.view.metadata import SQLViewRepresentation, ViewVersion


def create_view(catalog: RestCatalog, view: str, schema: dict, sql: str) -> None:
    version = ViewVersion(
        version_id=1,
        schema_id=0,
        timestamp_ms=int(time.time() * 1000),
        summary={"engine-name": "test"},
        representations=[SQLViewRepresentation(type="sql", sql=sql, dialect="spark")],
        default_namespace=view.split(".")[:-1],
    )
    catalog.create_view(view, Schema.model_validate({"schema-id": 0, **schema}), version)


def load_view(catalog: RestCatalog, view: str) -> dict:
    return json.loads(catalog.load_view(view).metadata.model_dump_json())


def list_views(catalog: RestCatalog, namespace: str) -> list[str]:
    return sorted(".".join(name) for name in catalog.list_views(namespace))


def view_exists(catalog: RestCatalog, view: str) -> bool:
    return catalog.view_exists(view)


def drop_view(catalog: RestCatalog, view: str) -> None:
    catalog.drop_view(view)
