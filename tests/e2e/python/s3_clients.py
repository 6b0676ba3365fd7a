"""Runs S3 calls of PyArrow, s3fs and DuckDB: python s3_clients.py <endpoint> <bucket>

Each line of standard input is one call, {"client", "keys", "operation", "arguments"}; each line of standard output is its
outcome, {"value"} or {"error", "message"}: what the client raised, in its own words.
"""

import json
import os
import sys

import duckdb
import duckdb_extension_httpfs
import s3fs
from pyarrow.fs import AwsStandardS3RetryStrategy, FileSelector, FileType, S3FileSystem

ENDPOINT, BUCKET = sys.argv[1:]
MEBIBYTE = 1024 * 1024


class PyArrow:
    def __init__(self, keys):
        self.fs = S3FileSystem(
            access_key=keys["accessKeyId"],
            secret_key=keys["secretAccessKey"],
            session_token=keys.get("sessionToken"),
            endpoint_override=ENDPOINT,
            region="auto",
            retry_strategy=AwsStandardS3RetryStrategy(max_attempts=1),
        )

    def put(self, key, content):
        with self.fs.open_output_stream(f"{BUCKET}/{key}") as stream:
            stream.write(content.encode())

    def get(self, key, bucket=BUCKET):
        with self.fs.open_input_stream(f"{bucket}/{key}") as stream:
            return stream.read().decode()

    def range(self, key, first, last):
        with self.fs.open_input_file(f"{BUCKET}/{key}") as file:
            return file.read_at(last - first + 1, first).decode()

    def size(self, key):
        return self.fs.get_file_info(f"{BUCKET}/{key}").size

    def _names(self, prefix, recursive):
        folder = f"{BUCKET}/{prefix}"
        for info in self.fs.get_file_info(FileSelector(folder.rstrip("/"), recursive=recursive)):
            yield info.path.removeprefix(folder), info.type == FileType.Directory

    def list(self, prefix):
        return sorted(name for name, is_folder in self._names(prefix, True) if not is_folder)

    def level(self, prefix):
        return sorted(name + "/" * is_folder for name, is_folder in self._names(prefix, False))

    def delete(self, key):
        self.fs.delete_file(f"{BUCKET}/{key}")

    def copy(self, source, target):
        self.fs.copy_file(f"{BUCKET}/{source}", f"{BUCKET}/{target}")

    def upload(self, key, mebibytes):
        with self.fs.open_output_stream(f"{BUCKET}/{key}") as stream:
            for _ in range(mebibytes):
                stream.write(b"x" * MEBIBYTE)


class S3fs:
    def __init__(self, keys):
        self.fs = s3fs.S3FileSystem(
            key=keys["accessKeyId"],
            secret=keys["secretAccessKey"],
            token=keys.get("sessionToken"),
            endpoint_url=ENDPOINT,
            client_kwargs={"region_name": "auto"},
            config_kwargs={"s3": {"addressing_style": "path"}, "retries": {"max_attempts": 0}},
            use_listings_cache=False,
            skip_instance_cache=True,
        )

    def put(self, key, content):
        self.fs.pipe_file(f"{BUCKET}/{key}", content.encode())

    def get(self, key, bucket=BUCKET):
        return self.fs.cat_file(f"{bucket}/{key}").decode()

    def range(self, key, first, last):
        return self.fs.cat_file(f"{BUCKET}/{key}", start=first, end=last + 1).decode()

    def size(self, key):
        return self.fs.info(f"{BUCKET}/{key}")["size"]

    def list(self, prefix):
        return sorted(path.removeprefix(f"{BUCKET}/{prefix}") for path in self.fs.find(f"{BUCKET}/{prefix}"))

    def level(self, prefix):
        entries = self.fs.ls(f"{BUCKET}/{prefix}", detail=True)
        return sorted(e["name"].removeprefix(f"{BUCKET}/{prefix}") + "/" * (e["type"] == "directory") for e in entries)

    def delete(self, key):
        self.fs.rm_file(f"{BUCKET}/{key}")

    def copy(self, source, target):
        self.fs.copy(f"{BUCKET}/{source}", f"{BUCKET}/{target}")

    def upload(self, key, mebibytes):
        with self.fs.open(f"{BUCKET}/{key}", "wb", block_size=5 * MEBIBYTE) as file:
            for _ in range(mebibytes):
                file.write(b"x" * MEBIBYTE)

    def create(self, key, content):
        self.fs.pipe_file(f"{BUCKET}/{key}", content.encode(), mode="create")


class DuckDB:
    def __init__(self, keys):
        packaged = os.path.dirname(duckdb_extension_httpfs.__file__)
        self.connection = duckdb.connect()
        self.connection.execute(f"LOAD '{packaged}/extensions/v{duckdb.__version__}/httpfs.duckdb_extension'")
        self.connection.execute("SET http_retries = 0")
        # The largest file it is to write decides how large the parts are: with this, 5 MiB.
        self.connection.execute("SET s3_uploader_max_filesize = '50GB'")
        self.connection.execute(
            f"""CREATE SECRET (TYPE s3, KEY_ID '{keys["accessKeyId"]}', SECRET '{keys["secretAccessKey"]}',
                SESSION_TOKEN '{keys.get("sessionToken", "")}', ENDPOINT '{ENDPOINT.removeprefix("http://")}',
                REGION 'auto', URL_STYLE 'path', USE_SSL false)"""
        )

    def _write(self, query, key):
        self.connection.execute(f"COPY ({query}) TO 's3://{BUCKET}/{key}' (FORMAT csv, HEADER false, QUOTE '')")

    def put(self, key, content):
        """The CSV file of one field, with a line's end that `get` takes away again."""
        self._write(f"SELECT '{content}'", key)

    def get(self, key, bucket=BUCKET):
        path = f"s3://{bucket}/{key}"
        return self.connection.execute("SELECT content FROM read_text($1)", [path]).fetchone()[0].removesuffix("\n")

    def size(self, key):
        return self.connection.execute("SELECT size FROM read_blob($1)", [f"s3://{BUCKET}/{key}"]).fetchone()[0]

    def list(self, prefix):
        folder = f"s3://{BUCKET}/{prefix}"
        rows = self.connection.execute("SELECT file FROM glob($1) ORDER BY file", [f"{folder}**"]).fetchall()
        return [file.removeprefix(folder) for (file,) in rows]

    def upload(self, key, mebibytes):
        self._write(f"SELECT repeat('x', 1023) FROM range({mebibytes} * 1024)", key)


clients = {"PyArrow": PyArrow, "s3fs": S3fs, "DuckDB": DuckDB}

for line in sys.stdin:
    call = json.loads(line)
    try:
        client = clients[call["client"]](call["keys"])
        outcome = {"value": getattr(client, call["operation"])(*call["arguments"])}
    except Exception as error:  # Whatever it is, it is the outcome.
        outcome = {"error": type(error).__name__, "message": str(error)}
    print(json.dumps(outcome), flush=True)
