/** SQL for a timestamp as answers show it: RFC 3339 in UTC with microseconds. */
export function rfc3339(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}
