# The commands of this project; `make` alone lists them.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
PREFIX ?= /usr/local
N ?= 1000
CHILDREN ?= 1000000
CLIENTS ?= 6
FOR ?= 600
# Builds the program that the tests of other languages run; `cargo test` also builds it.
PROGRAM := cargo build --locked -p cenote-cli
DEBUG := $${CARGO_TARGET_DIR:-target}/debug
EXTENSION := . $(VENV)/bin/activate && maturin develop --quiet --manifest-path python/Cargo.toml
# Examples are only linted: linking each takes as long as a program of tests.
TESTS := --lib --bins --tests
# Some tests of each opening, which `make test` runs on PostgreSQL, too; `make test-postgres` runs all.
ON_POSTGRES := tree:: metadata:: ldp::members ldp::updates dnanexus::objects irods::collections sparql::graphs
# versitygw is used where it is installed.
REQUIRE_BUCKETS = CENOTE_REQUIRE_MOTO=1 $(if $(wildcard target/tools/bin/versitygw),CENOTE_REQUIRE_VERSITYGW=1)
PYTESTS := $(VENV)/bin/python -m pytest -q python/tests

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build target/release/cenote
	scripts/setup build
	cargo build --release --locked -p cenote-cli

install: ## install target/release/cenote with manual pages and completions (options: PREFIX=/usr/local DESTDIR=)
	@test -x $${CARGO_TARGET_DIR:-target}/release/cenote || { echo "run 'make build' first" >&2; exit 1; }
	PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' scripts/dist/install $${CARGO_TARGET_DIR:-target}/release/cenote

dist: ## build everything to take away into dist/: a static program, .deb, image, Python and R packages (options: DIST='program deb')
	scripts/dist/build $(DIST)

test-dist: ## install what is in dist/ in clean roots, as root, and try it (options: DIST='program deb')
	scripts/dist/test $(DIST)

demo: ## install dependencies, then store, find and read back a real tree, step by step
	scripts/demo

lint: ## check formatting and lints
	scripts/setup build
	cargo fmt --all --check
	cargo clippy --locked --workspace --exclude cenote-python --all-targets -- -D warnings

test: ## run all tests: Rust, Python and R
	scripts/setup build
	# The lints are compiled while the rest is being installed.
	{ scripts/setup test && scripts/setup python; } & setup=$$!; \
	    make --no-print-directory lint; linted=$$?; wait $$setup && exit $$linted
	cargo test --locked $(TESTS) --no-run
	@mkdir -p target
	# Clients wait for the program most of the time, and the tests in Rust for its disk: together they use the cores.
	$(MAKE) --no-print-directory test-clients >target/test-clients.log 2>&1 & clients=$$!; \
	    $(MAKE) --no-print-directory test-rust; rust=$$?; \
	    wait $$clients; clients=$$?; cat target/test-clients.log; exit $$((rust + clients))

# Fixed seeds: whether it passes depends on the change. `make nightly` uses random ones. Most tests wait for the disk, so more of them run at a time
# than there are cores.
test-rust: export RUST_TEST_THREADS ?= 4
test-rust:
	CENOTE_CRASH_SEED=1 PROPTEST_RNG_SEED=1 $(REQUIRE_BUCKETS) CENOTE_REQUIRE_NGINX=1 CENOTE_REQUIRE_BROKER=1 CENOTE_REQUIRE_POSTGRES=1 cargo test --locked $(TESTS)
	program=$$(scripts/test-program tests/server/main.rs) && \
	cd crates/server && CENOTE_TEST_CATALOG=postgres CENOTE_REQUIRE_POSTGRES=1 "$$program" $(ON_POSTGRES)
	cargo test --locked --doc

# What uses the built program from outside.
test-clients:
	scripts/dist/check $(DEBUG)/cenote
	scripts/schemathesis
	# The extension is compiled here, while the tests in Rust wait for their disk.
	$(EXTENSION)
	$(PYTESTS)
	$(VENV)/bin/python scripts/test-docs $(DEBUG)/cenote
	scripts/test-r
	scripts/matrix $(DEBUG)/cenote

python: ## build the Python package and run its tests, including those against a cenote server
	scripts/setup python
	$(PROGRAM)
	$(EXTENSION)
	$(PYTESTS)

docs: ## run every command in the documentation except Python, and compare its output
	$(PROGRAM)
	$(PYTHON) scripts/test-docs --without-python $(DEBUG)/cenote

r: ## run the tests of the R package against a cenote server
	scripts/setup r
	$(PROGRAM)
	scripts/test-r

check-r: ## build the R package and check it as CRAN does, without a server
	scripts/setup check-r
	scripts/check-r

matrix: ## make changes through each opening and check them through every other, with real clients, and print the tables (option: CATALOG=postgres://…, an empty database)
	scripts/setup matrix
	scripts/setup python
	$(PROGRAM)
	$(EXTENSION)
	scripts/matrix $(DEBUG)/cenote --whole $(if $(CATALOG),--catalog '$(CATALOG)')

test-postgres: ## run the tests of all openings with the catalogs of their stores in PostgreSQL
	scripts/setup test
	CENOTE_TEST_CATALOG=postgres CENOTE_REQUIRE_POSTGRES=1 PROPTEST_RNG_SEED=1 cargo test --locked --test server

crash: ## kill -9 a writer and PostgreSQL N times, simulate N power failures, damage each file, and check for losses
	CENOTE_REQUIRE_POSTGRES=1 CENOTE_CRASH_ROUNDS=$(N) cargo test --release --locked --test '*crash*' --test power_cuts --test rot -- --nocapture

oracle: ## run N random histories of trajectories on our package and on the reference package
	scripts/setup python
	$(EXTENSION)
	$(VENV)/bin/python -m pip install --quiet gsd==5.0.1
	GSD_ORACLE_SEEDS=$(N) $(VENV)/bin/python -m pytest -q python/tests/gsd/test_oracle.py

models: ## compare the store and the server with their models in N random histories, with contents of up to a few MiB
	CENOTE_REQUIRE_POSTGRES=1 PROPTEST_CASES=$(N) cargo test --release --locked -p cenote-store --test it model::
	PROPTEST_CASES=$(N) cargo test --release --locked -p cenote-gsd --test it recovery::
	PROPTEST_CASES=$(N) cargo test --release --locked -p cenote-server --test server model::
	CENOTE_MOUNT_CASES=$(N) cargo test --release --locked -p cenote-mount --test system model::
	scripts/setup fsx
	CENOTE_FSX_STEPS=$(N)00 cargo test --release --locked -p cenote-cli --test mount random::
	CENOTE_FSX=$(CURDIR)/target/tools/bin/fsx CENOTE_FSX_STEPS=$(N)000 cargo test --release --locked -p cenote-cli --test mount fsx::

storms: ## cut, stall, kill and restart PostgreSQL, a bucket and three servers under load, N times, and compare with a model
	scripts/setup storms
	$(REQUIRE_BUCKETS) CENOTE_REQUIRE_POSTGRES=1 CENOTE_STORM_EVENTS=$(N) cargo test --release --locked -p cenote-cli --test cluster storm:: -- --nocapture

faults: ## fail each mutation at each of its steps in the catalog, on each engine
	CENOTE_REQUIRE_POSTGRES=1 CENOTE_FAULT_STEPS=$(N) cargo test --release --locked -p cenote-store --test it faults::

plans: ## compare queries and searches with exhaustive ones, in N random catalogs
	PROPTEST_CASES=$(N) cargo test --release --locked -p cenote-query --test plans --test sparql
	PROPTEST_CASES=$(N) cargo test --release --locked -p cenote-store --test it search::

r-trees: ## put, change and get N random directories from R
	scripts/setup r
	$(PROGRAM)
	CENOTE_R_ROUNDS=$(N) scripts/test-r

editing: ## edit N * 100 random JSON, TOML and INI documents, and check that everything else is unchanged
	PROPTEST_CASES=$(N)00 cargo test --release --locked -p cenote-keyset --test editing

rot: ## damage the files of a store N times, bit by bit, and check for wrong answers
	CENOTE_ROT_ROUNDS=$(N) cargo test --release --locked -p cenote-store --test it rot_files:: -- --nocapture

outsider: ## send every generated request to every route as every kind of caller
	CENOTE_OUTSIDER=all cargo test --locked -p cenote-server --test server outsider

peers: ## measure a client next to 4,096 silent peers on a server with 1,024 descriptors, and send N * 10 hostile requests
	CENOTE_PEERS=4096 CENOTE_DESCRIPTORS=1024 cargo test --release --locked -p cenote-cli --test store starvation -- --nocapture
	CENOTE_HOSTILE=$(N)0 cargo test --release --locked -p cenote-server --test server hostile -- --nocapture

nightly: test-postgres crash models storms faults plans oracle r-trees editing outsider rot peers ## tests too long for `make test`: test-postgres, crash, models, storms, faults, plans, oracle, r-trees and editing (N rounds each), outsider, rot, and peers

fuzz: ## run every fuzz target for a minute each (needs cargo-fuzz and a nightly compiler)
	cd fuzz && for target in $$(cargo +nightly fuzz list); do \
	    cargo +nightly fuzz run $$target -- -max_total_time=60 || exit 1; done

bench-engines: ## measure the catalog's engines with the workload they were designed for
	cargo run --release --locked -p cenote-bench-engines -- fjall

bench-committers: ## measure commits a second over PostgreSQL by the number of callers (options: COMMITTERS='--callers 16 --seconds 150')
	cargo run --release --locked -p cenote-kv --example committers -- $(COMMITTERS)

bench-scale: ## measure how the store's costs grow with its size (options: CHILDREN=100000)
	rm -rf target/bench-scale
	cargo run --release --locked -p cenote-bench-scale -- target/bench-scale $(CHILDREN)
	rm -rf target/bench-scale

soak: build ## put a server under mixed load and verify every byte (options: FOR=600 CLIENTS=6)
	$(PYTHON) bench/soak/soak.py target/release/cenote --seconds $(FOR) --clients $(CLIENTS)

bench-native: build ## measure the native opening and comparable programs
	scripts/setup bench
	cargo run --release --locked -p cenote-bench-native -- target/release/cenote

bench-mount: build ## measure a mount beside curl and the local disk, as root; with MOUNT=--published many sizes, beside rclone, DXFUSE and DX (options: MOUNT='--mib 1024' DXFUSE=PROGRAM DX=PROGRAM RCLONE=PROGRAM)
	scripts/setup mounts
	$(PYTHON) bench/mount/bench.py target/release/cenote $(DXFUSE:%=--dxfuse %) $(DX:%=--dx %) $(RCLONE:%=--rclone %) $(MOUNT)

bench-gsd: ## measure trajectories and the reference package (options: GSD='--sizes 1024')
	scripts/setup python
	. $(VENV)/bin/activate && maturin develop --quiet --release --manifest-path python/Cargo.toml
	$(VENV)/bin/python -m pip install --quiet gsd==5.0.1
	$(VENV)/bin/python bench/gsd/bench.py $(GSD)

bench-ldp: build ## measure linked data as LAKEsuperior's benchmark does, and peers (options: LDP='--children 100000 --peer NAME=URL')
	python3 bench/ldp/bench.py target/release/cenote $(LDP)

bench-dnanexus: build ## measure `dx` beside its own floor and the program (options: DNANEXUS='--mib 256' CHILDREN=100000 DXFUSE=PROGRAM)
	scripts/setup bench-dnanexus
	$(VENV)/bin/python bench/dnanexus/bench.py target/release/cenote --children $(CHILDREN) $(DXFUSE:%=--dxfuse %) $(DNANEXUS)

bench-python: build ## measure the Python package beside s3fs, requests and the program (options: PYBENCH='--mib 256 --files 1000')
	scripts/setup bench-python
	. $(VENV)/bin/activate && maturin develop --quiet --release --manifest-path python/Cargo.toml
	$(VENV)/bin/python bench/python/bench.py target/release/cenote $(PYBENCH)

bench-servers: build ## measure a store on this machine, over PostgreSQL, and with three servers behind nginx (options: SERVERS='--contents bucket --rounds 5')
	scripts/setup bench-servers
	$(VENV)/bin/python bench/servers/bench.py target/release/cenote $(SERVERS)

bench-bloat: build ## measure what a day's changes leave in PostgreSQL (options: BLOAT='--changes 500000 --clients 16')
	scripts/setup bench-servers
	$(VENV)/bin/python bench/servers/bloat.py target/release/cenote $(BLOAT)

bench-keyset: ## measure key sets, and libelektra if KDB names its benchmark programs
	scripts/setup bench-keyset
	bench/keyset/run

bench-irods: build ## measure the R package and curl, and rirods if RIRODS names libraries
	scripts/setup bench-r
	bench/irods/run

.PHONY: help build install dist test-dist demo lint test test-rust test-clients python docs r check-r matrix crash models storms faults plans oracle r-trees editing outsider peers nightly fuzz bench-engines bench-committers bench-scale bench-native bench-mount bench-gsd bench-ldp bench-dnanexus bench-python bench-servers bench-bloat bench-keyset bench-irods soak
