#!/bin/sh
# Removes what make has put into the checkout; the engine and the Python environment stay in the tool cache.
set -eu

if [ "${FORCE:-}" != 1 ]; then
  kept=""
  grep -qs '"urn"' .state/pulumi/backend/.pulumi/stacks/*/*.json && kept="$kept
  - resources of a stack that is up: \`make down\` removes them"
  ls .state/*/processes/*.json >/dev/null 2>&1 && kept="$kept
  - processes that are running from it: \`make down\` stops them"
  ls .state/*/r2/* >/dev/null 2>&1 && kept="$kept
  - the objects of the local bucket, tables' files among them"
  [ -z "$kept" ] || {
    echo "error: .state still holds:$kept
FORCE=1 removes it all the same, and stops what is running." >&2
    exit 1
  }
fi
[ ! -x node_modules/.bin/node ] || node_modules/.bin/node --disable-warning=ExperimentalWarning tools/sweep.ts
rm -rf node_modules .state
