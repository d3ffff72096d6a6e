# `make help` says what there is. Every target works on a machine with cargo, python3 and a C
# compiler, and asks nothing.

CARGO_FLAGS ?= --locked
HEADRACE := target/release/headrace
ROUNDS ?= 5
BENCH_SCENARIOS ?= scenarios/bench/leaf-spine-dctcp.toml scenarios/bench/fat-tree-dctcp.toml
DETERMINISM_SCENARIO ?= scenarios/bench/leaf-spine-dctcp.toml
# A million flows take minutes.
THREADS_SCENARIOS ?= $(filter-out scenarios/million-flows.toml,$(wildcard scenarios/*.toml)) $(BENCH_SCENARIOS)

export CARGO_TERM_PROGRESS_WHEN := never
export PYTHONDONTWRITEBYTECODE := 1

.PHONY: help demo test lint bench bench-queues bench-instructions setup release
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-19s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: release ## one figure of a paper, quick size: its claims as a table, its picture as SVG
	$(HEADRACE) reproduce bcc/fig2

test: setup lint ## lints, tests, builds and threads against each other byte by byte: what CI runs
	cargo test $(CARGO_FLAGS) --workspace
	python3 -m unittest discover --start-directory bench
	$(MAKE) release
	tools/determinism.sh $(DETERMINISM_SCENARIO) target/debug/headrace $(HEADRACE)
	set -e; for scenario in $(THREADS_SCENARIOS); do \
	    tools/determinism.sh $$scenario $(HEADRACE) "$(HEADRACE) --threads 2" \
	        "$(HEADRACE) --threads 3" "$(HEADRACE) --threads 4" "$(HEADRACE) --threads 8"; \
	done
	$(MAKE) bench-instructions

lint: setup ## formatting, clippy, and the dependencies' licences and sources
	cargo fmt --all --check
	cargo clippy $(CARGO_FLAGS) --workspace --all-targets -- -D warnings
	tools/deny.sh

bench: release ## packet-hops per CPU second on one core; BASE=path/to/headrace compares with it
	python3 bench/speed.py --headrace $(HEADRACE) --rounds $(ROUNDS) $(if $(BASE),--base $(BASE)) \
	    $(BENCH_SCENARIOS)

bench-instructions: release ## instructions per packet-hop against bench/instructions.json; fails at +5 %
	tools/setup.sh measure
	python3 bench/instructions.py --headrace $(HEADRACE)

bench-queues: ## pending-event structures compared (bench/QUEUES.md)
	cargo build $(CARGO_FLAGS) --release --package headrace-bench-queues
	taskset -c $$(($$(nproc) - 1)) target/release/queues

setup: ## installs what is missing: rustfmt, clippy, cargo-deny (in .tools)
	tools/setup.sh lint

release:
	tools/setup.sh build
	cargo build $(CARGO_FLAGS) --release --bin headrace
