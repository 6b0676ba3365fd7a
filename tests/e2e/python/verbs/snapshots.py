"""The history of a table, and names for points of it."""

from pyiceberg.catalog.rest import RestCatalog
from pyiceberg.table.refs import SnapshotRefType


def history(catalog: RestCatalog, table: str) -> list[dict]:
    """Snapshots from the first to the current one, each after its parent."""
    loaded = catalog.load_table(table)
    snapshot, found = loaded.current_snapshot(), []
    while snapshot is not None:
        found.insert(0, _describe(snapshot))
        parent = snapshot.parent_snapshot_id
        snapshot = None if parent is None else loaded.snapshot_by_id(parent)
    return found


def snapshots(catalog: RestCatalog, table: str) -> list[dict]:
    """All snapshots the table has, in whatever branch."""
    return [_describe(snapshot) for snapshot in catalog.load_table(table).snapshots()]


def _describe(snapshot) -> dict:
    return {
        "id": snapshot.snapshot_id,
        "parent": snapshot.parent_snapshot_id,
        "at": snapshot.timestamp_ms,
        "operation": snapshot.summary.operation.value,
        "summary": dict(snapshot.summary.additional_properties),
        "manifestList": snapshot.manifest_list,
    }


def tag(catalog: RestCatalog, table: str, name: str, snapshot: int) -> None:
    with catalog.load_table(table).manage_snapshots() as manage:
        manage.create_tag(snapshot, name)


def untag(catalog: RestCatalog, table: str, name: str) -> None:
    with catalog.load_table(table).manage_snapshots() as manage:
        manage.remove_tag(name)


def branch(catalog: RestCatalog, table: str, name: str, snapshot: int) -> None:
    with catalog.load_table(table).manage_snapshots() as manage:
        manage.create_branch(snapshot, name)


def remove_branch(catalog: RestCatalog, table: str, name: str) -> None:
    with catalog.load_table(table).manage_snapshots() as manage:
        manage.remove_branch(name)


def roll_back(catalog: RestCatalog, table: str, snapshot: int) -> None:
    with catalog.load_table(table).manage_snapshots() as manage:
        manage.rollback_to_snapshot(snapshot)


def refs(catalog: RestCatalog, table: str) -> dict[str, dict]:
    def describe(ref) -> dict:
        return {"snapshot": ref.snapshot_id, "tag": ref.snapshot_ref_type == SnapshotRefType.TAG}

    return {name: describe(ref) for name, ref in catalog.load_table(table).refs().items()}


def expire(catalog: RestCatalog, table: str, ids: list[int]) -> None:
    catalog.load_table(table).maintenance.expire_snapshots().by_ids(ids).commit()
