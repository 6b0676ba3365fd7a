import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { listRecords } from "../../platforms/local/records.ts";
import type { Measure } from "./measure.ts";

const most = 400;

/** Proportional set size of every process that `make up` leaves running: memory they share is counted once. */
export const memory: Measure = {
  name: "memory",
  target: `under ${most} MB`,
  async run(checkout) {
    if (process.platform !== "linux") return { seen: "cannot be told on this system", kept: true };
    const records = await listRecords(join(checkout.directory, ".state", "local"));
    const parents = await parentsOfProcesses();
    const each: string[] = [];
    let sum = 0;
    for (const { name, pid } of records) {
      let megabytes = 0;
      for (const member of familyOf(pid, parents)) megabytes += (await proportionalKilobytes(member)) / 1_024;
      each.push(`${name} ${Math.round(megabytes)}`);
      sum += megabytes;
    }
    return { seen: `${Math.round(sum)} MB (${each.join(", ")})`, kept: records.length > 0 && sum < most };
  },
};

/** From pid to the pid of its parent. */
async function parentsOfProcesses(): Promise<Map<number, number>> {
  const parents = new Map<number, number>();
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    // A process may end while the others are read.
    const status = await readFile(`/proc/${entry}/status`, "utf8").catch(() => "");
    const parent = /^PPid:\s*(\d+)/m.exec(status)?.[1];
    if (parent !== undefined) parents.set(Number(entry), Number(parent));
  }
  return parents;
}

function familyOf(pid: number, parents: ReadonlyMap<number, number>): number[] {
  const children = [...parents].filter(([, parent]) => parent === pid).map(([child]) => child);
  return [pid, ...children.flatMap((child) => familyOf(child, parents))];
}

async function proportionalKilobytes(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  return Number(/^Pss:\s*(\d+) kB/m.exec(rollup)?.[1] ?? 0);
}
