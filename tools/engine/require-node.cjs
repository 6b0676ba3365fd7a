/* global console, process */
// Loaded by the engine before the program (Pulumi.yaml, nodeargs), by whatever Node.js is first on PATH: an old one
// cannot run TypeScript and would only say that it does not know the extension.
const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  console.error(
    `This program needs Node.js 24 or newer, and node on PATH is ${process.version} (${process.execPath}). ` +
      'Put the pinned one first: export PATH="$PWD/node_modules/.bin:$PATH" after `npm ci`, or use `make up STACK=<name>`.',
  );
  process.exit(32); // Tells the engine that a person has been told what to do.
}
