import { UserError } from "../../../clients/errors.ts";
import { lakekeeperImage, type LakekeeperOptions } from "./lakekeeperImage.ts";
import { nodeImage } from "./nodeImage.ts";
import { postgresImage } from "./postgresImage.ts";
import type { Image } from "./program.ts";

/** Gives the image that a name stands for, as a registry would. */
export type Pull = (name: string) => Promise<{ image: Image; tag: string }>;

/** @returns what rejects with UserError, in a registry's words, for an image or a tag that is not known here. */
export function registry(options: LakekeeperOptions): Pull {
  const images: Record<string, Image> = {
    "ghcr.io/railwayapp-templates/postgres-ssl": postgresImage,
    "quay.io/lakekeeper/catalog": lakekeeperImage(options),
    "docker.io/library/node": nodeImage,
  };
  return async (name) => {
    const { repository, tag } = parse(name);
    const image = images[repository];
    if (!image) {
      throw new UserError(
        `Failed to pull ${name}: repository ${repository} does not exist or may require authorization ` +
          `(this emulator has ${Object.keys(images).join(", ")}).`,
      );
    }
    if (!(await image.hasTag(tag))) throw new UserError(`Failed to pull ${name}: manifest unknown (no tag ${tag}).`);
    return { image, tag };
  };
}

/** As Docker reads names: the first part is a registry when it looks like a host. */
function parse(name: string): { repository: string; tag: string } {
  const [, path = name, tag = "latest"] = /^(.+?)(?::([^:/]+))?$/.exec(name) ?? [];
  const parts = path.split("/");
  const onHub = parts.length === 1 || !/[.:]|^localhost$/.test(parts[0] ?? "");
  if (!onHub) return { repository: path, tag };
  return { repository: `docker.io/${parts.length === 1 ? "library/" : ""}${path}`, tag };
}
