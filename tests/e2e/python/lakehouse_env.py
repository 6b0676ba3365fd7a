"""The catalog as the ml-runner builds it: from the five LAKEHOUSE_ variables of its environment and nothing else."""

import os

from pyiceberg.catalog.rest import RestCatalog


def build_catalog() -> RestCatalog:
    """With LAKEHOUSE_REST_VENDING=1 the catalog hands out the S3 keys of each table.

    With 0, the keys are the process's own (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY). PyIceberg lets whatever the catalog
    vends win over them, and Lakekeeper vends unless it is asked for `client-managed`.
    """
    catalog_type = os.environ["LAKEHOUSE_CATALOG_TYPE"]
    if catalog_type != "rest":
        raise SystemExit(f"LAKEHOUSE_CATALOG_TYPE is {catalog_type!r}; this reads through a REST catalog: rest.")
    vending = os.environ["LAKEHOUSE_REST_VENDING"]
    if vending not in ("0", "1"):
        raise SystemExit(f"LAKEHOUSE_REST_VENDING is {vending!r}; it is 0 or 1.")
    storage = {}
    if vending == "0":
        storage = {
            "header.X-Iceberg-Access-Delegation": "client-managed",
            "s3.access-key-id": os.environ["AWS_ACCESS_KEY_ID"],
            "s3.secret-access-key": os.environ["AWS_SECRET_ACCESS_KEY"],
        }
    return RestCatalog(
        "lakehouse",
        uri=os.environ["LAKEHOUSE_REST_URI"],
        warehouse=os.environ["LAKEHOUSE_REST_WAREHOUSE"],
        token=os.environ["LAKEHOUSE_CATALOG_TOKEN"],
        **storage,
    )
