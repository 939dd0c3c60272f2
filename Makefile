# Everything that a person or a machine does with this repository. What the
# tests need beside Go is installed by "make deps", which "make test" runs.

GO         ?= go
BINARY     := bin/mintmark
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     := mvdan.cc/gofumpt@v0.12.0
E2E        := cmd/mintmark/e2e
PACKAGING  := cmd/mintmark/packaging
BUILDER    ?= docker
# What resource servers import: modules of their own, without the server's requirements.
LIBRARY    := verifier middleware
# These are modules of their own, so that nobody else gets what only they require.
NESTED     := $(LIBRARY) middleware/examples verifier/bench $(E2E)/verifiers $(E2E)/clients/mcp-go $(PACKAGING)/kustomize/check
# Which modules take part is in their go.mod files alone, whatever go.work a
# contributor has.
export GOWORK := off

.DEFAULT_GOAL := help
.PHONY: help run cluster agents build release image deps quick test photos check chaos mutate bench bench-large fuzz

help: ## List these targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

run: build ## Build and start one durable node with a demo user and demo clients
	./$(BINARY) dev

cluster: build ## Build and run a cluster of three durable nodes on this machine
	@MINTMARK=./$(BINARY) ./$(E2E)/three-nodes

agents: build ## Build and run a node and an MCP server, for AI assistants to connect to
	cd middleware/examples && CGO_ENABLED=0 $(GO) build -trimpath -o ../../bin/mcp ./mcp
	@MINTMARK=./$(BINARY) ./$(E2E)/agents

build: ## Build the one static binary
	CGO_ENABLED=0 $(GO) build -trimpath -buildvcs=auto -o $(BINARY) ./cmd/mintmark

release: ## Make archives, packages, SBOMs and checksums of this commit, in bin/release
	./$(PACKAGING)/release

image: build ## Build the container image mintmark with BUILDER (docker, podman or buildah)
	./$(PACKAGING)/image $(BINARY) $(BUILDER)

deps: ## Install what the tests need: a C compiler, Node.js, Chromium, Java, HAProxy, nginx, Apache, promtool, jq, rpm, buildah, DejaVu fonts, npm packages
	./$(E2E)/install

# A race binary sleeps for a second at its end otherwise.
export GORACE ?= atexit_sleep_ms=0
# Tests that start the program, or nodes that wait for each other.
WAITING := /(cluster|cmd/mintmark)(/(e2e|photos|chaos|packaging|upgrade))?$$

# Tests that run what make deps installs.
INSTALLED := ^(TestRulesByPromtool|TestUnitsAreUnderstood)$$

quick: ## Run the tests that neither start the program nor wait for nodes (about a minute, then seconds)
	@for module in $(LIBRARY); do (cd $$module && $(GO) test ./...) || exit 1; done
	$(GO) test -skip '$(INSTALLED)' $$($(GO) list ./... | grep -vE '$(WAITING)')

# Go repeats a result while nothing has changed that the test reads. It does not see
# what a test builds, so the tests that do run each time. Those that only drive a
# binary are built without the race detector. The chaos tests judge how long a cluster
# takes, so they have the machine alone. Many of the others wait for nodes: four run at
# once.
test: deps ## Run every test, with the race detector
	@for module in $(LIBRARY); do (cd $$module && $(GO) test -race ./...) || exit 1; done
	$(GO) test -race -timeout 20m -parallel 4 $$($(GO) list ./... | grep -v /cmd/mintmark)
	$(GO) test -race -count=1 -timeout 30m -parallel 4 $$($(GO) list ./cmd/mintmark/... | grep -vE '/(e2e|photos|chaos|packaging|upgrade)$$')
	$(GO) test -run 'Allocations$$' ./keys ./issuer/credential ./issuer # left out of a race build
	cd middleware/examples && $(GO) test -race ./...
	cd verifier/bench && $(GO) test -race -run 'Corpus|Judge|Fuzz' .
	cd $(PACKAGING)/kustomize/check && $(GO) test .
	$(GO) test -count=1 -timeout 30m ./cmd/mintmark/e2e ./cmd/mintmark/upgrade ./cmd/mintmark/packaging
	$(GO) test -count=1 -timeout 20m ./cmd/mintmark/photos
	$(GO) test -count=1 -timeout 20m ./cmd/mintmark/chaos

photos: ## Compare pictures of the pages with the accepted ones; ACCEPT='consent.*' accepts new ones, README=yes writes those of the documents
	$(GO) test -count=1 -timeout 20m ./cmd/mintmark/photos $(if $(ACCEPT),-accept '$(ACCEPT)') $(if $(README),-readme)

mutate: ## Break each condition of the rules in turn, and list those that no test misses
	$(GO) run ./cmd/mintmark/internal/mutate

check: ## Format, vet, staticcheck, tidy modules, nothing generated left over
	@unformatted="$$($(GO) run $(GOFUMPT) -l cmd issuer verifier keys cluster middleware)"; \
	if [ -n "$$unformatted" ]; then echo "not formatted: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags long ./cmd/mintmark/chaos
	$(GO) run $(STATICCHECK) -tags long ./...
	$(GO) mod tidy -diff
	$(GO) mod verify
	@for module in $(NESTED); do \
		echo "in $$module: vet, staticcheck, mod tidy -diff, mod verify"; \
		(cd $$module && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./... && $(GO) mod tidy -diff && $(GO) mod verify) || exit 1; \
	done

ROUNDS ?= 500

chaos: ## Break a cluster of three in 500 ways drawn at random, or ROUNDS=n, and find planted bugs (long)
	$(GO) test -tags long -count=1 -timeout 0 -v ./cmd/mintmark/chaos -rounds $(ROUNDS) -transfers 1000

# Revocations: p99 of at most 1000 ms from "revoked" to "refused", with 50 verifiers
# at one node and 100 revocations a second.
bench: ## Measure: requests beside their ceiling, introspection, minting, verification beside other libraries, revocation (about 6 minutes)
	@for module in $(LIBRARY); do (cd $$module && $(GO) test -run '^$$' -bench . -benchtime 2s ./...) || exit 1; done
	$(GO) test -run '^$$' -bench . -benchtime 2s ./issuer/credential
	cd verifier/bench && $(GO) test -v -bench . -benchtime 2s -benchmem .
	$(GO) test -run '^$$' -bench 'Propose' -benchtime 2s ./cluster
	$(GO) test -run '^$$' -bench 'Refresh|Introspect' -benchtime 2s ./issuer
	$(GO) test -run '^$$' -bench 'Revocations' -benchtime 1000x ./cmd/mintmark
	$(GO) test -run '^$$' -bench 'Refresh|Exchange|Reads|HalfOpen|StartUp' -benchtime 1x -timeout 20m ./cmd/mintmark

bench-large: ## Measure with 1,000,000 live grants (about 10 minutes, 4 GB of memory)
	$(GO) test -run '^$$' -bench 'Million' -benchtime 1x -timeout 60m ./cmd/mintmark

fuzz: ## Run every fuzz target for a minute
	@for module in . $(LIBRARY) verifier/bench middleware/examples; do \
		for package in $$(cd $$module && $(GO) list ./...); do \
			for target in $$(cd $$module && $(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
				echo "$$package $$target"; \
				(cd $$module && $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime 60s $$package) || exit 1; \
			done; \
		done; \
	done
