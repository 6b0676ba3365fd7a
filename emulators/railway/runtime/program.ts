import type { ContainerSpec } from "../runtime.ts";

/** What an image runs here. */
export interface Program {
  /** Program and arguments; `node` is the Node that runs this. */
  readonly command: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** What the program gets when its container is told to stop. */
  readonly stopSignal: "SIGTERM" | "SIGINT";
  readonly uid?: number;
  readonly gid?: number;
}

/** The part of an image that is not its file system: what becomes of a container's settings. */
export interface Image {
  /** Whether the registry has this tag. */
  readonly hasTag: (tag: string) => Promise<boolean>;
  /** May take a while, as an entrypoint that prepares its data does. Tells the container's log what differs here. */
  readonly program: (spec: ContainerSpec, tag: string, say: (line: string) => void) => Promise<Program>;
}

/** A program that says why it cannot go on and ends, as an entrypoint does that refuses its settings. */
export function refusal(reason: string, exitCode: number): Program {
  return {
    command: ["/bin/sh", "-c", 'printf "%s\\n" "$1"; exit "$2"', "entrypoint", reason, String(exitCode)],
    cwd: "/",
    environment: {},
    stopSignal: "SIGTERM",
  };
}

/** How a container ends that is told to run what its image does not hold. */
export function noSuchExecutable(name: string): Program {
  return refusal(`The executable \`${name}\` could not be found.`, 127);
}

/** A start command is split at blanks and meets no shell: neither quotes nor variables mean anything. */
export function wordsOf(startCommand: string | undefined): string[] {
  return (startCommand ?? "").split(/\s+/).filter((word) => word !== "");
}
