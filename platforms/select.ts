import type { StackConfig } from "../config.ts";
import type { Protection } from "../components/protection.ts";
import { LocalPlatform } from "./local/index.ts";
import type { Platform } from "./platform.ts";
import { RailwayPlatform } from "./railway/index.ts";

/** @param protection of what holds everything else, such as a project on Railway */
export function selectPlatform(config: StackConfig, protection: Protection): Platform {
  switch (config.platform) {
    case "local":
      return new LocalPlatform(config);
    case "railway":
      return new RailwayPlatform(config, protection);
  }
}
