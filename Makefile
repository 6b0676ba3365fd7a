# `make help` lists the targets. Each one installs what it needs first, and nothing that is there already.

STACK ?= local
export STACK EMULATED YES FORMAT SHOW_SECRETS ONLY FORCE RUNS SEED WHAT

# The pinned Node.js runs everything, the engine's own child processes included.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
node := node_modules/.bin/node --disable-warning=ExperimentalWarning
packages := node_modules/.installed-package-lock.json

.DEFAULT_GOAL := help
.PHONY: help up down preview refresh config env doctor engine test lint format bench rotate chaos clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo "  STACK=$(STACK) chooses the stack: local needs no account; any other uses your own Pulumi login."
	@echo "  EMULATED=1 keeps that other stack's state in this checkout as well: no login, nothing of the real one is touched."
	@echo "  YES=1 does not ask before it changes a stack. tools/pulumi runs any other command of the engine on STACK."

up: $(packages) ## Create or update the stack
	@$(node) tools/target.ts up

down: $(packages) ## Remove the stack; tables' files stay where they are
	@$(node) tools/target.ts destroy

preview: $(packages) ## Show what `make up` would change
	@$(node) tools/target.ts preview

refresh: $(packages) ## Compare the engine's state with what is really there
	@$(node) tools/target.ts refresh

config: $(packages) ## What the stack still needs to be told, where that is found, and how to set it
	@$(node) tools/config.ts

env: $(packages) ## Print the ml-runner's environment (FORMAT=dotenv|json|export|railway SHOW_SECRETS=1)
	@$(node) tools/env.ts

doctor: $(packages) ## Verify the running catalog; exit code 1 when a check fails
	@$(node) tools/doctor.ts

engine: $(packages) ## Get the Pulumi engine into the tool cache, if it is not there or on PATH
	@$(node) tools/engine/main.ts

test: lint engine ## Lint and run every test
	@$(node) tools/python.ts >/dev/null
	@mkdir -p .state
# End-to-end tests wait for most of their time, so that two cores have room for a third.
	@node_modules/.bin/jest --maxWorkers=3 --json --outputFile=.state/test-results.json

lint: $(packages) ## Check formatting, style and types
	@npm run --silent lint

format: $(packages) ## Format every file
	@npm run --silent format

bench: $(packages) ## Measure what the project promises (ONLY=name for one of them)
	@$(node) tools/bench/bench.ts

rotate: $(packages) ## Renew what lets in, while readers read (WHAT=r2|jwt|tokens)
	@$(node) tools/rotate.ts

chaos: $(packages) ## Kill `up` at random moments, RUNS times, and see that the next one mends it all (STACK=dev)
	@$(node) tools/chaos.ts

clean: ## Remove node_modules and .state; FORCE=1 also when a stack is up or a local bucket is lost
	@sh tools/clean.sh

# Compared by content: a checkout that only changes dates installs nothing.
$(packages): package-lock.json
	@cmp -s package-lock.json $@ || sh tools/install.sh
	@cp package-lock.json $@
