"""Lists the namespaces as a client that gets its tokens itself. CATALOG_SETTINGS holds its settings as JSON."""

import json
import os

from pyiceberg.catalog import load_catalog

catalog = load_catalog("lakekeeper", type="rest", **json.loads(os.environ["CATALOG_SETTINGS"]))
print(json.dumps(sorted(".".join(name) for name in catalog.list_namespaces("main"))))
