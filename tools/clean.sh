#!/bin/sh
# Removes what make has put into the checkout; the engine and the Python environment stay in the tool cache.
set -eu

if [ "${FORCE:-}" != 1 ]; then
  for state in .state/pulumi/backend/.pulumi/stacks/*/*.json; do
    grep -qs '"urn"' "$state" || continue
    stack=$(basename "$state" .json)
    echo "error: The stack $stack is up. \`make down\` takes it away first; \`make clean FORCE=1\` stops it and forgets it." >&2
    exit 1
  done
  for bucket in .state/*/r2; do
    [ -n "$(ls "$bucket" 2>/dev/null)" ] || continue
    echo "error: $bucket holds the local bucket: $(du -sh "$bucket" | cut -f1) of tables' files, which are nowhere else" \
      "unless they are the sample's. \`make clean FORCE=1\` removes them with everything else." >&2
    exit 1
  done
fi
[ ! -x node_modules/.bin/node ] || node_modules/.bin/node --disable-warning=ExperimentalWarning tools/sweep.ts

# Encrypted settings are the user's, and the passphrase is the only key to them.
if grep -qs '^ *secure:' .state/pulumi/project/Pulumi.*.yaml; then
  find .state -mindepth 1 -maxdepth 1 ! -name pulumi -exec rm -rf {} +
  find .state/pulumi -mindepth 1 -maxdepth 1 ! -name project ! -name passphrase -exec rm -rf {} +
  echo "Kept: your encrypted settings in .state/pulumi, with their passphrase. \`rm -r .state\` removes these too."
else
  rm -rf .state
fi
rm -rf node_modules
