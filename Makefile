# ccbot's commands. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help features try test test-wire test-versions memory tour day crash chaos chaos-fleet faults lint lint-all programs quick rules promises test-race settings bench bench-quick soak bench-fleet benchmarks pictures font-pictures e2e build man dist dist-check clean install-tmux

GO      ?= go
ARGS    ?=
# go test begins the packages in this order, so those that take longest come first. A test that waits leaves the processor
# to another package: at least four run side by side.
PKG     ?= ./e2e ./lifecycle ./bot ./cmd/ccbot ./fleet/rpc ./try/demoagent ./bot/outbox ./tmux ./loop ./internal/git ./bot/inbox ./host ./fleet/... ./...
SIDE    := $(shell n=$$(getconf _NPROCESSORS_ONLN); echo $$((n > 4 ? n : 4)))
RUN     ?=
SKIP    ?=
BASE    ?=
ONLY    ?=
# Git is asked only where a name of the version is needed: it touches its own folder, and then go test takes a tree for a changed one.
VERSION  = $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT   = $(shell git show -s --abbrev=12 --format='%h of %cs' 2>/dev/null)
EPOCH    = $(or $(shell git show -s --format=%ct 2>/dev/null),0)
TOOL    := $(GO) tool -modfile=tools/go.mod

# Tests sync what they write. On a disk that takes time of the processor too, in memory none.
# With GOGC=400 compilers and tests spend less time on garbage, and a test binary without symbols is linked in half the time.
# Nothing else differs from `go build` and `go test`, so all of them share what is compiled, and go test remembers the packages
# that passed. `make lint` vets.
MEMORY := $(shell [ -w /dev/shm ] && [ "$$(df -Pk /dev/shm | awk 'END {print $$4}')" -gt 4000000 ] && \
	! grep -q ' /dev/shm .*noexec' /proc/mounts && echo /dev/shm)
# The programs that the tests of the whole run are built before: go test repeats no result that was one of the same programs.
PROGRAMS ?= $(CURDIR)/bin/test
GOTEST  ?= $(GO) test
WITH    := GOGC=$${GOGC-400} TMPDIR=$${TMPDIR-$(or $(MEMORY),/tmp)} CCBOT_E2E_BINARIES='$(PROGRAMS)'
FLAGS    = -vet=off -ldflags='-s -w' -p $(SIDE) -timeout 45m $(if $(RUN),-run '$(RUN)') $(if $(SKIP),-skip '$(SKIP)')
# `make test SHORT=` takes the long tests and the large inputs too: internal/longtest.
SHORT   ?= -short
RACY     = $(shell tools/goroutines)

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

try: install-tmux needs-build ## try ccbot in a browser: no Telegram, no token, no Claude needed (ARGS="--agent claude" for the real one)
	@GO='$(GO)' tools/build '$(VERSION)' '$(COMMIT)' $(if $(findstring --machines,$(ARGS)),,without-hub)
	@bin/ccbot try $(ARGS)

test: needs-test programs ## the tests that people wait for; CI runs more: docs/dev/testing.md (RUN=expression, PKG=packages)
	@$(WITH) $(GOTEST) $(SHORT) $(FLAGS) $(PKG)

test-race: export CGO_ENABLED = 1
test-race: needs-test needs-race ## the packages that start goroutines, and the short tests of the whole, with the race detector
	@GO='$(GO)' e2e/programs.sh '$(CURDIR)/bin/race' -race
	@$(WITH) GORACE=atexit_sleep_ms=0 $(GOTEST) -race -short $(FLAGS) $(RACY)
	@$(WITH) CCBOT_E2E_BINARIES='$(CURDIR)/bin/race' $(GOTEST) -short $(FLAGS) ./e2e

quick: needs-test ## in a minute: the packages that a change touches, their importers and the rules (BASE=commit: since then)
	@packages=$$(GO='$(GO)' $(GO) run -C tools ./quick '$(CURDIR)' '$(BASE)') && $(WITH) CCBOT_E2E_BINARIES= $(GOTEST) -short $(FLAGS) $$packages

rules: ## the rules of the tree: layers, who signals, types and closes panes, documents against the program
	@$(WITH) $(GOTEST) $(FLAGS) ./internal/repotest ./internal/process ./i18n ./port/... ./internal/session ./fleet/wire/... ./bot/chat/chattest

promises: ## the tests of each promise, with their packages
	@grep -rE --include='*_test.go' --exclude-dir=bin '^func (Test|TestReal|Fuzz)P[0-9]+_' . | sed -E 's,^\./(.*)/[^/]*:func ([A-Za-z0-9_]+).*,\2 \1,' | sort -uV

test-wire: PKG = ./bot ./e2e
test-wire: needs-test programs ## tests of the chat and of the whole, where all calls and news between chat and machine pass through envelopes (RUN=expression)
	@CCBOT_WIRE=loop $(WITH) $(GOTEST) $(FLAGS) -skip '$(or $(SKIP),^TestReal)' $(PKG)

programs:
	@GO='$(GO)' e2e/programs.sh '$(PROGRAMS)'

needs-%:
	@GO='$(GO)' tools/needs $*

memory:
	@echo $(or $(MEMORY),/tmp)

tour: programs ## pictures of a day in the chat, in each language, on a phone and a desktop, light and dark (DIR=folder)
	@dir='$(DIR)'; dir=$${dir:-$$(mktemp -d)}; mkdir -p "$$dir"; \
	$(WITH) CCBOT_SHOTS="$$dir" $(GO) test -count=1 -timeout 15m -run '^TestTour$$/^[a-z]+-..$$' ./e2e/ && echo "the pictures are in $$dir"

day: programs ## pictures of an hour with eight sessions of Claude Code and Codex (e2e/install.sh), after each step (DIR=folder)
	@dir='$(DIR)'; dir=$${dir:-$$(mktemp -d)}; mkdir -p "$$dir"; \
	$(WITH) CCBOT_REQUIRE=all CCBOT_SHOTS="$$dir" $(GO) test -tags pictures -count=1 -timeout 15m -run '^TestDayOfEightSessions$$' ./e2e/ && echo "the pictures are in $$dir"

crash: programs ## kill ccbot at every persisted step, see that nothing is lost, and write e2e/testdata/crash-matrix.md
	@CCBOT_CRASH_MATRIX='$(CURDIR)/e2e/testdata/crash-matrix.md' $(WITH) $(GOTEST) -count=1 -timeout 15m -run '^TestP8_CrashMatrix$$' ./e2e/

chaos: programs ## let all go wrong at random while people write, see that nothing is lost, and write e2e/testdata/reliability.md
	@CCBOT_CHAOS_COMMIT='$(COMMIT)' CCBOT_CHAOS_REPORT='$(CURDIR)/e2e/testdata/reliability.md' $(WITH) $(GOTEST) -count=1 -timeout 4h -run '^TestP4_ChaosLosesNothing$$' ./e2e/
	@sed -n '/^| /p' e2e/testdata/reliability.md

chaos-fleet: programs ## the same with three machines and a hub that die and hang, into the same document
	@CCBOT_CHAOS_COMMIT='$(COMMIT)' CCBOT_CHAOS_REPORT='$(CURDIR)/e2e/testdata/reliability.md' $(WITH) $(GOTEST) -count=1 -timeout 4h -run '^TestP4_ChaosOfMachinesLosesNothing$$' ./e2e/

test-versions: ## chat, machine and hub in different versions: OLD=commit is the other one
	@mkdir -p bin/versions && rm -rf bin/versions/* && git archive '$(OLD)' | tar x -C bin/versions
	@$(GO) build -C bin/versions -buildvcs=false -ldflags "-X main.version=v0.0.0-earlier" -o ./ ./cmd/ccbot ./cmd/ccbot-codex ./cmd/ccbot-hook ./cmd/ccbot-hub
	@CCBOT_EARLIER='$(CURDIR)/bin/versions' $(GO) test -tags versions -count=1 -timeout 30m -run '^TestMixedVersions$$' ./e2e/

faults: needs-test ## run the trials of faults of the machine (tools/faults/trials.txt), and write their outcomes into tools/faults/testdata
	@TMPDIR=$${TMPDIR-$(or $(MEMORY),/tmp)} $(GO) run -C tools ./faults '$(CURDIR)'

# Three real agents keep a processor busy: more would only be slower, each of them.
e2e: programs ## the tests with the real Claude Code and Codex, which are installed into a cache folder first
	@e2e/install.sh
	@CCBOT_REQUIRE=all $(WITH) $(GOTEST) -vet=off -count=1 -timeout 45m -parallel $$((3 * $$(getconf _NPROCESSORS_ONLN))) \
		-run '^TestReal' ./e2e/...

lint: ## golangci-lint, of which go vet is a part, and a tidy module
	$(GO) mod tidy -diff
	$(TOOL) golangci-lint run ./...

lint-all: lint ## and what loads or compiles much more: the module of the tools, go vet for macOS
	$(GO) -C tools mod tidy -diff
	GOOS=darwin $(GO) vet ./...

# The test builds the programs that it measures.
measure = CCBOT_E2E_BINARIES=none CCBOT_BENCH_BASE='$(BASE)' CCBOT_BENCH_ONLY='$(ONLY)' CCBOT_BENCH_FOLDER='$(CURDIR)/bin/bench' $(1) \
	$(GO) test -tags bench -count=1 -v -timeout 2h -run '^TestBench$$' ./e2e/

settings: programs ## run the real Claude Code CLI with the settings that people have, one after the other, and print each outcome
	@mkdir -p bin && rm -f bin/settings.md
	@CCBOT_REQUIRE=all CCBOT_SETTINGS_REPORT='$(CURDIR)/bin/settings.md' $(WITH) $(GOTEST) -count=1 -timeout 40m -run '^TestRealP7_SettingsOfPeople$$' ./e2e/; \
		status=$$?; sort bin/settings.md; exit $$status

features: programs ## walk through what the real Claude Code and Codex can do, and write docs/dev/agents-features.md (CLAUDE=version, CODEX=version, ONLY=expression)
	@cache=$$(e2e/agents.sh '$(CLAUDE)' '$(CODEX)') && export GOCACHE="$$($(GO) env GOCACHE)" XDG_CACHE_HOME="$$cache" && \
	CCBOT_REQUIRE=all CCBOT_FEATURES_REPORT='$(CURDIR)/docs/dev/agents-features.md' CCBOT_FEATURES_OF='$(ONLY)' $(WITH) \
	$(GO) test -vet=off -count=1 -timeout 90m -run '^TestRealFeatures$$' ./e2e/

bench: ## measure the whole program and write e2e/testdata/performance.md (BASE=commit: beside that one; ONLY=expression: some figures)
	@mkdir -p bin/bench
	@$(call measure,CCBOT_BENCH_REPORT='$(CURDIR)/e2e/testdata/performance.md' CCBOT_BENCH_CURVES='$(CURDIR)/docs/dev/pictures')

bench-quick: ## the same in two minutes, smaller and less sure, into bin/bench/quick.md
	@mkdir -p bin/bench
	@$(call measure,CCBOT_BENCH_QUICK=1 CCBOT_BENCH_REPORT='$(CURDIR)/bin/bench/quick.md')

soak: build ## an hour of turns: how ccbot, tmux and the state folder grow, into e2e/testdata/reliability.md (FOR=20m: shorter)
	@CCBOT_E2E_BINARIES='$(CURDIR)/bin' CCBOT_SOAK='$(or $(FOR),1h)' CCBOT_SOAK_REPORT='$(CURDIR)/e2e/testdata/reliability.md' \
	$(GO) test -tags bench -count=1 -v -timeout 24h -run '^TestSoak$$' ./e2e/

bench-fleet: ## measure 50 machines with 20 sessions each: events, memory, calls, a loss, a removal
	@$(GO) test -tags bench -count=1 -v -timeout 10m -run '^TestFleetFigures$$' ./fleet/center/ | sed -n '/^|/p;/FAIL\|Error/p'

benchmarks: ## the benchmarks of the packages into bin/bench.txt, compared with those of the last run
	@mkdir -p bin
	@if [ -f bin/bench.txt ]; then mv bin/bench.txt bin/bench.old.txt; fi
	@$(GO) test -run '^$$' -bench . -benchmem -count 6 $(PKG) | tee bin/bench.txt
	@if [ -f bin/bench.old.txt ]; then $(TOOL) benchstat bin/bench.old.txt bin/bench.txt; fi

pictures: ## the pictures of the README, with Chromium, a font of emoji, Claude Code and Codex (e2e/install.sh), into docs/pictures
	@$(GO) test -tags pictures -count=1 -timeout 10m -run '^TestPictures' ./e2e/

font-pictures: ## as root: a screen drawn with the fonts of each machine (FONTS=FOLDER,FOLDER:FOLDER) and without fonts, into bin/fonts
	@mkdir -p bin/fonts
	@CCBOT_TRIAL_FONTS='$(FONTS)' CCBOT_TRIAL_PICTURES='$(CURDIR)/bin/fonts' $(GO) test -tags pictures -count=1 -v -run '^TestPicturesOfFonts$$' ./internal/cellpicture/

build: needs-build ## bin/ccbot, and beside it bin/ccbot-codex, bin/ccbot-hook, bin/ccbot-hub and bin/ccbot-try
	@GO='$(GO)' tools/build '$(VERSION)' '$(COMMIT)'

man: build ## man pages into bin/man
	@bin/ccbot describe-commands | $(GO) run -C tools ./man $(CURDIR)/bin/man
	@bin/ccbot-hub describe-commands | $(GO) run -C tools ./man $(CURDIR)/bin/man

PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
# dist ROOT,OUT,PLATFORMS
dist = $(GO) run -C tools ./dist "$(1)" "$(2)" '$(or $(VERSION),unknown)' '$(COMMIT)' $(EPOCH) $(3)

# A release is built with the Go of go.mod, which Go loads, whichever is installed and whatever GOTOOLCHAIN says.
dist dist-check: export GOTOOLCHAIN = $(shell awk '$$1 == "toolchain" { print $$2 }' go.mod)

dist: ## the archives of a release and their checksums into bin/dist (PLATFORMS="linux/amd64 …")
	@$(call dist,$(CURDIR),$(CURDIR)/bin/dist,$(PLATFORMS))

# In another folder, with files of other times and modes, and with other settings of Go. docs/dev/performance.md has the history
# of the sizes.
dist-check: ## pack a release of one platform twice: both must be the same bytes; prints the sizes of the programs
	@$(GO) test -C tools -vet=off -count=1 ./...
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && mkdir "$$dir/copy" && \
	tar -c --exclude=./bin --exclude=./.git . | (umask 077 && tar -xm --no-same-permissions -C "$$dir/copy") && \
	$(call dist,$(CURDIR),$$dir/one,linux/amd64) && GOFLAGS=-tags=failpoints $(call dist,$$dir/copy,$$dir/other,linux/amd64) && \
	diff -r "$$dir/one" "$$dir/other" && echo 'both are the same' && \
	tar -tvzf "$$dir"/one/*.tar.gz | awk '$$6 ~ /\/ccbot[a-z-]*$$/ { print $$6 " has " $$3 " bytes"; n++ } END { exit n < 4 }'

clean: ## remove bin/
	@rm -rf bin

install-tmux:
	@command -v tmux >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo 'tmux is missing, installing it'; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends tmux >/dev/null; \
	elif command -v apt-get >/dev/null; then echo 'tmux is missing. Install it with: sudo apt-get install tmux'; exit 1; \
	elif command -v brew >/dev/null; then echo 'tmux is missing. Install it with: brew install tmux'; exit 1; \
	else echo 'tmux is missing. Install it with the package manager of this system.'; exit 1; fi
