#!/bin/sh
# Removes what make has put into the checkout. The engine stays in the tool cache.
set -eu

if [ "${FORCE:-}" != 1 ] && grep -qs '"urn"' .state/pulumi/backend/.pulumi/stacks/*/*.json; then
  echo "error: a stack in .state still has resources: run \`make down\` first (FORCE=1 removes everything all the same)." >&2
  exit 1
fi
rm -rf node_modules .state
