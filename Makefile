# The two commands: `make demo` and `make test`. Each installs what it needs into .venv; Python 3.11+ and a C++17 compiler are all it asks for.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
AS_ROOT := $(shell test $$(id -u) = 0 || echo sudo)
PIP := $(BIN)/pip install -q --disable-pip-version-check -c constraints.txt
# tables need no kernels: nothing to compile
FROM_SOURCE := PYTHONPATH=src ADAMERGE_KERNELS=reference $(BIN)/python
# twice as many processes as cores, since many tests wait for a disk or another process, but at most 4, since each
# may load a model; tests of one xdist_group share a process
AT_ONCE := -n $(shell $(PYTHON) -c "import os; print(min(4, 2 * (os.cpu_count() or 1)))") --dist loadgroup
SECONDS ?= 600
SANITIZE := build/sanitize
SANITIZE_PIP := $(SANITIZE)/venv/bin/pip install -q --disable-pip-version-check -c constraints.txt
KERNEL_TESTS := $(addprefix tests/test_,kernels.py transformer_kernels.py link.py pool.py maxsim.py codes.py maxsim_codes.py)
# ASan maps terabytes of addresses, so a test that limits them cannot run under it
LIMITS_MEMORY := tests/test_link.py::test_a_limit_of_the_process_is_an_error_that_says_how_much_was_needed
CPP := $(wildcard src/adamerge/kernels/native/*.?pp) tests/faults.c
JAVASCRIPT := src/adamerge/html_file/web src/adamerge/inspector/web src/adamerge/plans/web src/adamerge/server/web/static
SOURCES := pyproject.toml constraints.txt CMakeLists.txt $(wildcard src/adamerge/kernels/native/*)

.DEFAULT_GOAL := help

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

demo: weights  ## index a report whole and compressed, search both, and print hits and bytes side by side
	$(BIN)/python examples/demo.py build/demo

test: lint browser postgresql weights  ## lint, types, and all tests: what CI runs
	@echo "mypy runs beside the tests; what it says comes at the end"
	@mkdir -p build; $(BIN)/mypy > build/types.txt 2>&1 & types=$$!; \
	$(BIN)/python -m pytest $(AT_ONCE) --durations 10; result=$$?; \
	wait $$types || result=1; \
	echo "mypy: $$(cat build/types.txt)"; exit $$result

ROUNDS := 500
chaos: $(VENV)/.test  ## let calls that change the disk fail by chance in every command: ROUNDS=500, and SEED= of an earlier run
	$(BIN)/python tests/chaos.py --rounds $(ROUNDS) $(if $(SEED),--seed $(SEED))

chaos-cluster: ROUNDS := 20
chaos-cluster: $(VENV)/.test  ## kill workers, drivers and nodes of a Ray cluster by chance: ROUNDS=20, and SEED= of an earlier run
	$(BIN)/python tests/chaos_cluster.py --rounds $(ROUNDS) $(if $(SEED),--seed $(SEED))

check: lint  ## lint, format and types
	$(BIN)/mypy

lint: $(VENV)/.test  ## lint and format only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/oxlint --deny-warnings $(JAVASCRIPT)
	$(BIN)/oxfmt --check $(JAVASCRIPT)
	$(BIN)/clang-format --dry-run --Werror $(CPP)

fuzz: $(VENV)/.test  ## hostile input for every door, for SECONDS=600; findings are kept in build/fuzz (fuzz/README.md)
	$(BIN)/python -m fuzz --seconds $(SECONDS) --seed $(or $(SEED),0)

sanitize: $(SANITIZE)/.built  ## the kernel tests with ASan and UBSan, in an environment of their own: build/sanitize
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	$(SANITIZE)/venv/bin/python -m pytest $(KERNEL_TESTS) --deselect $(LIMITS_MEMORY)

bench: $(VENV)/.bench weights  ## speed against other libraries, as ratios in one run
	$(BIN)/python benchmarks/all.py

paper: $(VENV)/.paper  ## every table and figure from the committed results, into build/paper; no torch, no GPU
	$(FROM_SOURCE) -m adamerge evaluate report results/books -o build/paper/report.html --parts build/paper
	$(FROM_SOURCE) docs/write_results.py
	$(FROM_SOURCE) docs/write_images.py

docs: $(VENV)/.docs  ## build the site into build/site; a broken link or a missing name fails (make test builds it too)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build  # with --quiet no warning would fail

cli-page: $(VENV)/.demo  ## write docs/cli.md from --help
	$(BIN)/python docs/write_cli.py

notebook:  ## write docs/tutorial.ipynb from docs/tutorial.md
	$(PYTHON) docs/write_notebook.py

browser: $(VENV)/.test  ## Chromium for tests and screenshots, from Debian's packages if there is none
	@$(BIN)/python tests/browser.py || $(MAKE) --no-print-directory chromium

chromium:
	@command -v apt-get >/dev/null || { echo "the tests drive Chromium: install it, so that 'chromium' runs" >&2; exit 1; }
	$(AS_ROOT) apt-get update -qq
	$(AS_ROOT) apt-get install -y -qq chromium

postgresql:  ## PostgreSQL for the test of its recipe, from Debian's packages if there is none; without it that test is skipped
	@$(PYTHON) tests/postgresql.py || { $(AS_ROOT) apt-get update -qq && $(AS_ROOT) apt-get install -y -qq postgresql; } \
		|| echo "PostgreSQL cannot be installed: its recipe is not tested" >&2

office:  ## LibreOffice for the tests of office files, from Debian's packages (325 MB); without it they are skipped
	$(AS_ROOT) apt-get update -qq
	$(AS_ROOT) apt-get install -y -qq --no-install-recommends libreoffice-writer-nogui libreoffice-impress-nogui libreoffice-calc-nogui

screenshots: browser weights  ## make the pictures of docs/ again
	$(BIN)/python docs/screenshots.py

weights: $(VENV)/.demo  ## get the weights of minilm into the user's cache, if they are not there
	$(BIN)/adamerge fetch minilm

clean:  ## remove what make made
	rm -rf $(VENV) build

$(VENV)/.demo: $(VENV)/.build
	$(PIP) --no-build-isolation -e '.[demo]'
	@touch $@

$(VENV)/.paper: $(VENV)/.pip
	$(PIP) --group paper
	@touch $@

$(VENV)/.docs: $(VENV)/.pip
	$(PIP) --group docs
	@touch $@

$(VENV)/.build: $(VENV)/.pip $(SOURCES)
	$(PIP) --group build
	@touch $@

$(VENV)/.pip: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) pip
	@touch $@

$(VENV)/.test: $(VENV)/.demo tests/shim/sitecustomize.py
	$(PIP) --no-build-isolation -e '.[demo,arrow,ocr,colpali,store,qdrant,mteb,serve,mcp,langchain,llama-index,haystack,ray]' --group test --group docs
	cp tests/shim/sitecustomize.py $$($(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")
	@touch $@

$(SANITIZE)/.built: $(SOURCES) $(wildcard src/adamerge/*.py src/adamerge/*/*.py)
	test -x $(SANITIZE)/venv/bin/python || $(PYTHON) -m venv $(SANITIZE)/venv
	$(SANITIZE_PIP) pip
	$(SANITIZE_PIP) --group build --group sanitize
	PATH="$(CURDIR)/$(SANITIZE)/venv/bin:$$PATH" $(SANITIZE_PIP) --no-build-isolation --force-reinstall --no-deps . \
		-C build-dir=$(SANITIZE)/cmake -C cmake.define.ADAMERGE_SANITIZE=ON
	@touch $@

$(VENV)/.bench: $(VENV)/.test
	$(PIP) --group bench
	@touch $@

.PHONY: help weights demo test chaos chaos-cluster check lint bench paper docs cli-page notebook fuzz sanitize browser chromium postgresql office screenshots clean
