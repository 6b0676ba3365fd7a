/**
 * What somebody did by hand before a step of a recording of the real PostgreSQL plugin: statements, with the database
 * that they are for.
 */
export const handwork: Record<string, readonly (readonly [database: string, sql: string])[]> = {
  "role/refresh-after-hand-change": [["postgres", "ALTER ROLE app2 NOLOGIN CONNECTION LIMIT 3 PASSWORD 'changed'"]],
  "role/up-after-drop-by-hand-no-refresh": [["postgres", "DROP ROLE app2"]],
  "role/role-exists": [["postgres", "CREATE ROLE existing LOGIN"]],
  "role/import-mismatch": [["postgres", "CREATE ROLE victim LOGIN SUPERUSER CREATEDB"]],
  "database/owner-change-alterObjectOwnership": [["cat", "CREATE TABLE t (i int); ALTER TABLE t OWNER TO own2"]],
  "database/destroy-already-gone-db": [["postgres", "DROP DATABASE cat3"]],
  "database/import-db": [["postgres", "CREATE DATABASE imp OWNER own"]],
  "extension/ext-dropped-by-hand-refresh": [["ext", "DROP EXTENSION pgcrypto"]],
  "extension/ext-drop-with-dependents": [["ext", "CREATE TABLE t (i int, EXCLUDE USING gist (i WITH =))"]],
  "grant/hand-regrant-up-no-refresh": [["gdb", "GRANT CONNECT ON DATABASE gdb TO PUBLIC"]],
  "grant/table-all": [["gdb", "CREATE TABLE s1.t (i int); CREATE TABLE s1.u (i int)"]],
  "grant/new-table-refresh": [["gdb", "CREATE TABLE s1.v (i int)"]],
  "more/db-gone-refresh": [["postgres", "DROP DATABASE gdb"]],
  "more/db-gone-destroy": [["postgres", "DROP DATABASE gdb"]],
  "import-misc/import-db-and-friends": [
    ["postgres", "CREATE ROLE own"],
    ["postgres", "CREATE DATABASE imp OWNER own"],
    ["imp", "CREATE EXTENSION pgcrypto"],
  ],
  "import-misc/drop-role-owning-other-database-objects": [
    ["postgres", "CREATE DATABASE other OWNER pp"],
    ["other", "CREATE TABLE t (i int); ALTER TABLE t OWNER TO pp"],
  ],
  "limited-user/createrole-createdb-superuser-false": [
    ["postgres", "CREATE ROLE limited LOGIN CREATEROLE CREATEDB PASSWORD '<secret>'"],
    ["postgres", "CREATE ROLE weak LOGIN PASSWORD '<secret>'"],
  ],
};
