import { z } from "zod";
import { checkFailure, checkInputs, configure, isUnknown, type Provider } from "./provider.ts";

export interface ReleaseState {
  version: string;
  database: string;
  restoredBackup: string;
}

const schema = z.object({
  version: z.string().regex(/^\d+\.\d+\.\d+$/, "must be a release such as 0.13.3"),
  database: z.string(),
  restoredBackup: z.string(),
});

function isOlder(version: string, than: string): boolean {
  return version.localeCompare(than, "en", { numeric: true }) < 0;
}

/** Another database, or one that has been put back, is not what the recorded release was migrated on. */
function isSameData(olds: Partial<ReleaseState>, news: ReleaseState): boolean {
  const isAnother = !isUnknown(news.database) && olds.database !== news.database;
  const isRestored = news.restoredBackup !== "" && news.restoredBackup !== olds.restoredBackup;
  return !isAnother && !isRestored;
}

const release: Provider<ReleaseState> = {
  configure,

  async check(olds, news) {
    const result = checkInputs(schema, news);
    if (olds.version !== undefined && isOlder(news.version, olds.version) && isSameData(olds, news)) {
      result.failures.push(
        checkFailure(
          `lakekeeper:version cannot go from ${olds.version} back to ${news.version}: Lakekeeper's migrations only go up, and an ` +
            `older release does not know this schema. Keep lakekeeper:version at ${olds.version}; or, once the ` +
            "database is as it was before (a backup from then restored, or the migration never ran), name that state in " +
            "lakekeeper:restoredBackup",
        ),
      );
    }
    return result;
  },

  async diff(_id, olds, news) {
    return {
      changes:
        olds.version !== news.version || olds.database !== news.database || olds.restoredBackup !== news.restoredBackup,
    };
  },

  async create(inputs) {
    return { id: "release", outs: inputs };
  },

  async read(id, props) {
    return { id, props };
  },

  async update(_id, _olds, news) {
    return { outs: news };
  },

  async delete() {},
};

export default release;
