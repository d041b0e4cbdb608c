# The commands of this project; `make` alone lists them.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
N ?= 1000
CHILDREN ?= 1000000
CLIENTS ?= 6
FOR ?= 600
# The program that the tests of other languages run; `cargo test` builds it, too.
PROGRAM := cargo build --locked -p cenote-cli

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build target/release/cenote
	scripts/setup build
	cargo build --release --locked -p cenote-cli

demo: ## install what is missing, then keep, find and read back a real tree, step by step
	scripts/demo

lint: ## check form and lints
	scripts/setup build
	cargo fmt --all --check
	cargo clippy --locked --workspace --exclude cenote-python --all-targets -- -D warnings

test: lint ## run every test, of Rust, of Python and of R
	scripts/setup test
	CENOTE_REQUIRE_BUCKET=1 CENOTE_REQUIRE_POSTGRES=1 cargo test --locked
	scripts/schemathesis
	$(MAKE) --no-print-directory python PROGRAM=:
	$(VENV)/bin/python scripts/test-docs $${CARGO_TARGET_DIR:-target}/debug/cenote
	scripts/test-r
	scripts/matrix $${CARGO_TARGET_DIR:-target}/debug/cenote

python: ## build the Python package and run its tests, also against a server of ours
	scripts/setup python
	$(PROGRAM)
	. $(VENV)/bin/activate && maturin develop --quiet --manifest-path python/Cargo.toml
	$(VENV)/bin/python -m pytest -q python/tests

docs: ## run every command of the documents but Python, and compare what it prints
	$(PROGRAM)
	$(PYTHON) scripts/test-docs --without-python $${CARGO_TARGET_DIR:-target}/debug/cenote

r: ## run the tests of the R package against a server of ours
	scripts/setup r
	$(PROGRAM)
	scripts/test-r

check-r: ## build the R package and check it as CRAN does, without a server
	scripts/setup check-r
	scripts/check-r

matrix: ## do everything through one opening and look through every other, with real clients, and print the tables
	scripts/setup matrix
	$(PROGRAM)
	scripts/matrix $${CARGO_TARGET_DIR:-target}/debug/cenote --whole

crash: ## kill -9 a writer and PostgreSQL N times, cut the power N times, damage each file, and look for what was lost
	CENOTE_REQUIRE_POSTGRES=1 CENOTE_CRASH_ROUNDS=$(N) cargo test --release --locked --test '*crash*' --test power_cuts --test rot -- --nocapture

oracle: ## run N random histories of trajectories on ours and on the reference package
	scripts/setup python
	. $(VENV)/bin/activate && maturin develop --quiet --manifest-path python/Cargo.toml
	$(VENV)/bin/python -m pip install --quiet gsd==5.0.1
	GSD_ORACLE_SEEDS=$(N) $(VENV)/bin/python -m pytest -q python/tests/gsd/test_oracle.py

models: ## compare the heart and the server with their models in N random histories, with contents of up to some MiB
	CENOTE_REQUIRE_POSTGRES=1 PROPTEST_CASES=$(N) cargo test --release --locked -p cenote-store --test it model::
	PROPTEST_CASES=$(N) cargo test --release --locked -p cenote-gsd --test it recovery::
	PROPTEST_CASES=$(N) cargo test --release --locked -p cenote-server --test server model::

faults: ## fail each mutation at each of its steps in the catalog, on each engine
	CENOTE_REQUIRE_POSTGRES=1 CENOTE_FAULT_STEPS=$(N) cargo test --release --locked -p cenote-store --test it faults::

plans: ## compare queries and searches with a look at everything, in N random catalogs
	PROPTEST_CASES=$(N) cargo test --release --locked -p cenote-query --test plans
	PROPTEST_CASES=$(N) cargo test --release --locked -p cenote-store --test it search::

r-trees: ## put and get N random directories from R, and change them
	scripts/setup r
	$(PROGRAM)
	CENOTE_R_ROUNDS=$(N) scripts/test-r

editing: ## edit N * 100 random documents of JSON, TOML and INI and compare what was not touched
	PROPTEST_CASES=$(N)00 cargo test --release --locked -p cenote-keyset --test editing

rot: ## damage the files of a store N times, bit by bit, and look for answers that are wrong
	CENOTE_ROT_ROUNDS=$(N) cargo test --release --locked -p cenote-store --test it rot_files:: -- --nocapture

outsider: ## send every generated request of every route as every caller
	CENOTE_OUTSIDER=all cargo test --locked -p cenote-server --test server outsider

peers: ## print the times of a client beside 4,096 silent peers of a server with 1,024 descriptors, and send N * 10 hostile requests
	CENOTE_PEERS=4096 CENOTE_DESCRIPTORS=1024 cargo test --release --locked -p cenote-cli --test store starvation -- --nocapture
	CENOTE_HOSTILE=$(N)0 cargo test --release --locked -p cenote-server --test server hostile -- --nocapture

nightly: crash models faults plans oracle r-trees editing outsider rot peers ## what is too long for `make test`: crash, models, faults, plans, oracle, r-trees and editing, N rounds each, every outsider, rot, and peers

fuzz: ## run every fuzz target for a minute each (needs cargo-fuzz and a nightly compiler)
	cd fuzz && for target in $$(cargo +nightly fuzz list); do \
	    cargo +nightly fuzz run $$target -- -max_total_time=60 || exit 1; done

bench-engines: ## measure the catalog's engines on the workload of the design
	cargo run --release --locked -p cenote-bench-engines -- fjall

bench-scale: ## measure how the store's costs grow with its size (options: CHILDREN=100000)
	rm -rf target/bench-scale
	cargo run --release --locked -p cenote-bench-scale -- target/bench-scale $(CHILDREN)
	rm -rf target/bench-scale

soak: build ## put a server under mixed load and compare every byte (options: FOR=600 CLIENTS=6)
	$(PYTHON) bench/soak/soak.py target/release/cenote --seconds $(FOR) --clients $(CLIENTS)

bench-native: build ## measure the native opening beside its peers
	scripts/setup bench
	cargo run --release --locked -p cenote-bench-native -- target/release/cenote

bench-gsd: ## measure trajectories beside the reference package (options: GSD='--sizes 1024')
	scripts/setup python
	. $(VENV)/bin/activate && maturin develop --quiet --release --manifest-path python/Cargo.toml
	$(VENV)/bin/python -m pip install --quiet gsd==5.0.1
	$(VENV)/bin/python bench/gsd/bench.py $(GSD)

bench-keyset: ## measure key sets, beside libelektra where KDB names its benchmark programs
	scripts/setup bench-keyset
	bench/keyset/run

bench-irods: build ## measure the R package beside curl, and beside rirods where RIRODS names libraries
	scripts/setup bench-r
	bench/irods/run

.PHONY: help build demo lint test python docs r check-r matrix crash models faults plans oracle r-trees editing outsider peers nightly fuzz bench-engines bench-scale bench-native bench-gsd bench-keyset bench-irods soak
