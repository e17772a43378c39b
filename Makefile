# `make demo` records, converts and shows a program. `make test` runs all checks.

CARGO ?= cargo
# The targets that the demo builds, and their folder. Continuous integration selects the targets
# that its tests have built already.
DEMO ?= --workspace --bin tumit --bin molecular-dynamics
BUILT ?= target/debug
TUMIT = $(BUILT)/tumit
MD = $(BUILT)/molecular-dynamics

.PHONY: demo test packages miri clean

demo:
	$(CARGO) build $(DEMO)
	@mkdir -p demo
	@for placement in random balanced; do \
	    echo; echo "== atoms placed: $$placement"; \
	    rm -rf demo/$$placement.tmt; \
	    TUMIT_TRACE=demo/$$placement.tmt $(MD) --placement $$placement || exit; \
	    $(TUMIT) info demo/$$placement.tmt > demo/$$placement.info || exit; head -n 4 demo/$$placement.info; \
	    $(TUMIT) convert demo/$$placement.tmt -o demo/$$placement.paje || exit; \
	    $(TUMIT) view demo/$$placement.tmt -o demo/$$placement.svg -o demo/$$placement.png || exit; \
	done
	@echo; echo "Images: demo/random.png and demo/balanced.png. In the first, the nodes wait for the slowest one."
	@if [ -t 1 ]; then $(TUMIT) view demo/random.tmt; else echo "To open it in a browser: $(TUMIT) view demo/random.tmt"; fi

# The first stage that fails ends the run, and its name is printed. The stage `tests` runs all tests
# even if one fails. The stages of benches only check that the benches run, in the profile of the
# tests, so that nothing is built twice: their figures mean nothing.
STAGE = @.ci/stage
# All targets. With `--all-targets`, cargo also checks the tests of libraries and programs that have
# `test = false`.
TARGETS = --lib --bins --examples --tests --bench '*'
BENCH = $(CARGO) bench --quiet --workspace --profile dev
test: packages
	$(STAGE) format $(CARGO) fmt --all --check
	$(STAGE) clippy $(CARGO) clippy --workspace $(TARGETS) --quiet -- -D warnings
	$(STAGE) documentation .ci/documentation
	$(STAGE) licences .ci/licences
	$(STAGE) "build of tests" $(CARGO) test --workspace --no-run
	$(STAGE) tests .ci/tests
	$(STAGE) "newer MPI" .ci/newer_mpi
	$(STAGE) "bench record" $(BENCH) --bench record -- --smoke
	$(STAGE) "bench callsites" $(BENCH) --bench callsites -- --smoke
	$(STAGE) "bench pauses" $(BENCH) --bench pauses -- --smoke
	$(STAGE) "bench compile" $(BENCH) --bench compile -- --smoke

# Installs what the tests need besides the Rust toolchain: compilers, MPI, other tracing tools, a
# browser.
packages:
	@.ci/packages

# Checks the recorder for undefined behaviour, except code with mapped files or processor counters,
# which Miri does not support. Leaks are ignored: the recorder never frees a table that a reader
# without a lock may still read. Needs a nightly toolchain with `rustup component add miri
# rust-src`.
miri:
	PROPTEST_CASES=2 MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks" $(CARGO) +nightly miri test -p tracer-rt -p tracer-format --lib -- \
		--skip columns:: --skip every_flipped_bit

clean:
	$(CARGO) clean
	rm -rf demo
