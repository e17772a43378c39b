# Two commands do all: `make demo` records, converts and shows a program; `make test` checks everything.

CARGO ?= cargo
# What the demo builds, and where it then is. Continuous integration takes what its tests have built.
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
	@if [ -t 1 ]; then $(TUMIT) view demo/random.tmt; else echo "Look at it in a browser: $(TUMIT) view demo/random.tmt"; fi

# Stage by stage: the first that fails ends it, and is named. All tests run even if one fails. Benches only show that they run, so
# nothing is built once more for them: their figures here mean nothing.
STAGE = @.ci/stage
BENCH = $(CARGO) bench --quiet --workspace --profile dev
test: packages
	$(STAGE) format $(CARGO) fmt --all --check
	$(STAGE) clippy $(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	$(STAGE) documentation env RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet
	$(STAGE) licences .ci/licences
	$(STAGE) "build of tests" $(CARGO) test --workspace --no-run
	$(STAGE) tests .ci/tests
	$(STAGE) "bench record" $(BENCH) --bench record -- --smoke
	$(STAGE) "bench pauses" $(BENCH) --bench pauses -- --smoke
	$(STAGE) "bench compile" $(BENCH) --bench compile -- --smoke

# What the tests need beside the Rust toolchain: compilers, MPI, the peers and a browser.
packages:
	@.ci/packages

# Looks for undefined behaviour in what of the recorder can be interpreted: no mapped files, no counters of processors. Leaks are meant: tables
# that readers without locks may still look at. Needs a nightly toolchain with `rustup component add miri rust-src`.
miri:
	PROPTEST_CASES=2 MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks" $(CARGO) +nightly miri test -p tracer-rt -p tracer-format --lib -- \
		--skip columns:: --skip any_flip

clean:
	$(CARGO) clean
	rm -rf demo
