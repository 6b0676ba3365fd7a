import pg from "pg";

export const identifier = (name: unknown): string => pg.escapeIdentifier(String(name));

/** Like the real plugin: a backslash becomes two, although Postgres then takes it for two. */
export const literal = (text: unknown): string => `'${String(text).replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
