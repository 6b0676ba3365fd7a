import { noSuchExecutable, wordsOf, type Image } from "./program.ts";

const RELEASE = /^(latest|lts|current|(18|20|22|24|25|26)(\.\d+){0,2})(-(alpine|slim|bookworm|trixie)[\w.-]*)?$/;

/** `docker.io/library/node`: the Node that runs this, whatever the tag. Nothing else of the image is there. */
export const nodeImage: Image = {
  hasTag: (tag) => Promise.resolve(RELEASE.test(tag)),

  program({ startCommand, environment }) {
    const [executable = "node", ...args] = wordsOf(startCommand);
    if (executable !== "node" && executable !== "/usr/local/bin/node") {
      return Promise.resolve(noSuchExecutable(executable));
    }
    return Promise.resolve({ command: ["node", ...args], cwd: "/", environment, stopSignal: "SIGTERM" });
  },
};
