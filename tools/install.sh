#!/bin/sh
# Installs the packages of package-lock.json, among them the Node.js that runs this project.
set -eu

command -v npm >/dev/null || {
  echo "error: npm is not on PATH. Install Node.js (any version from 20 on; the project brings its own for itself)." >&2
  exit 1
}
echo "Installing packages and Node.js from package-lock.json (once; about a minute)"
npm ci --no-audit --no-fund --loglevel=error

wanted=v$(sed -n 's/^    "node": "\([0-9.]*\)",*$/\1/p' package.json)
found=$(node_modules/.bin/node --version 2>/dev/null || echo none)
[ "$found" = "$wanted" ] || {
  echo "error: node_modules/.bin/node is $found, not $wanted: npm did not run the install script of the package \"node\"." >&2
  echo "Allow install scripts (npm config get ignore-scripts) and run the same command again." >&2
  exit 1
}
