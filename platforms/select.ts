import { UserError } from "../clients/errors.ts";
import type { StackConfig } from "../config.ts";
import { LocalPlatform } from "./local/index.ts";
import type { Platform } from "./platform.ts";

/** @throws UserError for a platform that has not landed. */
export function selectPlatform(config: StackConfig): Platform {
  switch (config.platform) {
    case "local":
      return new LocalPlatform(config);
    case "railway":
      throw new UserError(
        "lakekeeper:platform is railway, which this release cannot deploy to yet; use the stack local, or set lakekeeper:platform to local.",
      );
  }
}
