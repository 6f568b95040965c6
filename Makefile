# make run    build jp and watch three assistants review a change
# make test   everything CI checks
# The other targets are parts of these, or for working on jp itself.

export GOFLAGS += -buildvcs=false
FUZZTIME ?= 10s
KILLS    ?= 200
ROUNDS   ?= 100

# The race detector needs a C compiler. Without one the tests run without it.
CC_FOUND := $(shell command -v $$(go env CC) 2>/dev/null)
RACE     := $(if $(CC_FOUND),-race)

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: build run test fmt format vet lint unit crash outage race load try-scene types types-check fuzz bench cover clean

build:
	@go build -trimpath -o bin/jp ./cmd/jp

run: build
	@scripts/panel

# Each part is announced: without a cache some are silent for minutes.
test:
	@for part in format build vet lint unit types-check "crash KILLS=15" "outage KILLS=15" "race ROUNDS=15"; do \
		echo "make $$part"; $(MAKE) --no-print-directory $$part || exit 1; \
	done
	@echo "make test: all passed"

# format fails and lists the files; fmt repairs them.
format:
	@files=$$(gofmt -l cmd internal scripts) || exit 1; \
	if [ -n "$$files" ]; then echo "not formatted, run make fmt:"; echo "$$files"; exit 1; fi

fmt:
	@gofmt -w cmd internal scripts

vet:
	@go vet ./...

lint: bin/staticcheck
	@bin/staticcheck ./...

# The linter's version is pinned in a module of its own.
bin/staticcheck: tools/lint/go.mod tools/lint/go.sum
	@mkdir -p bin
	@go build -C tools/lint -o ../../bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	@touch $@

unit:
	@$(if $(RACE),,echo "no C compiler: the race detector is off")
	@go test $(RACE) ./...
	@$(if $(RACE),go test -run 'TestLongChain|TestApplyRacesAnEdit|TestScenesStayWhole|TestAnyExchange|TestPrefixLaw' ./internal/scene ./internal/scene/sqlstore ./internal/scene/pipeline) # in full size

crash: build
	@go run ./scripts/crash -n $(KILLS)

outage: build
	@go run ./scripts/outage -n $(KILLS)

race: build
	@go run ./scripts/race -n $(ROUNDS)

try-scene: build
	@go run ./scripts/scene $(ARGS)

# load measures how long a token takes through jp serve, 200 exchanges at a time.
load: build
	@go run ./scripts/load

# types makes the description of the API and the page's types from the routes;
# types-check fails when the types are stale, as a Go test does for the rest.
types: web/tools/node_modules/.package-lock.json
	@go test ./internal/httpapi -run 'TestDescription$$' -update >/dev/null
	@npm --prefix web/tools run --silent types

types-check:
	@if command -v npm >/dev/null; then \
		$(MAKE) --no-print-directory web/tools/node_modules/.package-lock.json && \
		npm --prefix web/tools run --silent check; \
	else echo "no npm: the page's types are not checked"; fi

web/tools/node_modules/.package-lock.json: web/tools/package.json web/tools/package-lock.json
	@npm --prefix web/tools ci --no-audit --no-fund --loglevel=error
	@touch $@

fuzz:
	@scripts/fuzz $(FUZZTIME)

bench:
	@go test -run '^$$' -bench . -benchmem ./...

cover:
	@go test -coverprofile=bin/cover.out ./... >/dev/null
	@go tool cover -func=bin/cover.out | tail -1

clean:
	@rm -rf bin
