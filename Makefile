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
.PHONY: build run test fmt format vet lint unit crash outage race fuzz bench cover clean

build:
	@go build -trimpath -o bin/jp ./cmd/jp

run: build
	@scripts/panel

# Each part is announced: without a cache some are silent for minutes.
test:
	@for part in format build vet lint unit "crash KILLS=15" "outage KILLS=15" "race ROUNDS=15"; do \
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

crash: build
	@go run ./scripts/crash -n $(KILLS)

outage: build
	@go run ./scripts/outage -n $(KILLS)

race: build
	@go run ./scripts/race -n $(ROUNDS)

fuzz:
	@scripts/fuzz $(FUZZTIME)

bench:
	@go test -run '^$$' -bench . -benchmem ./...

cover:
	@go test -coverprofile=bin/cover.out ./... >/dev/null
	@go tool cover -func=bin/cover.out | tail -1

clean:
	@rm -rf bin
