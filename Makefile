# `make help` lists the targets. Needs Python 3.11 or newer and make; the rest comes with `make setup`.

PYTHON ?= python3
VENV := .venv/bin
# Whoever installs the tools has not agreed to be counted.
export SAM_CLI_TELEMETRY := 0
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# What Python compiles is kept, or each call of sam compiles its 1,000 modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup run test test-deployed test-rest check audit simulate fuzz soak bench sam-local pictures static format lint deploy clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

## Environments ------------------------------------------------------------------------------------
# Three, since the SAM command, MiniStack and the project pin versions apart from each other, and pip's: an
# old pip looks at each version that there ever was, for minutes. Each is made anew when its requirements
# file changes; the stamp is written last, so a broken one is not kept.

setup: ## make .venv, .venv-sam and .venv-ministack with everything pinned
	@$(MAKE) -s --no-print-directory -j3 .venv/stamp-project .venv-sam/stamp .venv-ministack/stamp

# $(1) the environment, $(2) its requirements.
define checked_python
	@command -v $(PYTHON) >/dev/null 2>&1 || { echo "setup: '$(PYTHON)' is not here; install Python 3.11 or newer, or name it: make setup PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "setup: Python 3.11 or newer is needed, and $(PYTHON) is older; name a newer one: make setup PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "setup: $(PYTHON) cannot make environments; install its venv package (Debian: apt-get install python3-venv)" >&2; exit 1; }
endef

define environment
	@echo "setup: $(1) from $(2) ..."
	@rm -rf $(1)
	@$(PYTHON) -m venv --without-pip $(1)
	@.venv-pip/bin/python -m pip --python $(1)/bin/python install -qq --no-deps --no-compile -r $(2)
	@echo "setup: $(1) is ready"
endef

.venv-pip/stamp: requirements/pip.txt
	$(checked_python)
	@rm -rf .venv-pip
	@$(PYTHON) -m venv .venv-pip
	@.venv-pip/bin/python -m pip install -qq --no-deps -r requirements/pip.txt
	@touch $@

.venv/stamp: requirements/dev.txt | .venv-pip/stamp
	$(call environment,.venv,requirements/dev.txt)
	@touch $@

.venv/stamp-project: .venv/stamp pyproject.toml layers/dependencies/requirements.txt
	@$(VENV)/python -m pip install -qq --no-deps --no-build-isolation -e .
	@touch $@

.venv-sam/stamp: requirements/sam.txt | .venv-pip/stamp
	$(call environment,.venv-sam,requirements/sam.txt)
	@touch $@

.venv-ministack/stamp: requirements/ministack.txt | .venv-pip/stamp
	$(call environment,.venv-ministack,requirements/ministack.txt)
	@touch $@

.venv-audit/stamp: requirements/audit.txt | .venv-pip/stamp
	$(call environment,.venv-audit,requirements/audit.txt)
	@touch $@

## Work ----------------------------------------------------------------------------------------------

run: setup ## start the local stack, add demo tasks and follow them until Ctrl-C
	@$(VENV)/minutero local up
	@$(VENV)/python -m minutero_cli.demo

# Two halves side by side, each about as long as the other: what is built and deployed waits a lot, and has the
# trials beside it. The first half is told when it is over. With make's own jobs, Ctrl-C reaches both.
DEPLOYED := tests/packaging tests/stack tests/readme tests/trials tests/sam_local
REST = $(filter-out $(DEPLOYED),$(shell sed -n 's|^    "\(tests/[a-z_]*\)",$$|\1|p' pyproject.toml))

test: setup static ## the whole test suite, the local-stack tests among it
	@$(MAKE) -s --no-print-directory -k -j2 test-deployed test-rest

test-deployed:
	@mkdir -p .minutero && $(VENV)/python -m pytest $(DEPLOYED) >.minutero/test-deployed.log 2>&1; \
		code=$$?; cat .minutero/test-deployed.log; exit $$code

test-rest:
	@$(VENV)/python -m pytest $(REST)

check: setup static ## format, lint, types, import contracts and unit tests
	@$(VENV)/python -m pytest tests/unit

PINS := layers/dependencies/requirements.txt functions/worker/requirements.txt $(wildcard requirements/*.txt)
audit: .venv-audit/stamp ## ask PyPI for known vulnerabilities of everything pinned; fails without an answer
	@for pins in $(PINS); do echo "audit: $$pins"; \
		.venv-audit/bin/pip-audit --strict --no-deps --disable-pip --progress-spinner off -r $$pins || failed=1; \
	done; exit $${failed:-0}

SEEDS ?= 200
FROM ?= 0
simulate: setup ## the fault simulation: SEEDS seeds from FROM on; the last line is JSON
	@$(VENV)/python -m tests.simulation --seeds $(SEEDS) --from $(FROM)

REQUESTS ?= 5000
fuzz: setup ## REQUESTS requests to a local stack of its own, from the API's OpenAPI document; the last line is JSON
	@$(VENV)/python -m tests.fuzz --requests $(REQUESTS)

MINUTES ?= 10
soak: setup ## MINUTES minutes of mixed load on a local stack of its own; fails when something is lost or grows
	@$(VENV)/python -m tests.trials --minutes $(MINUTES)

bench: setup ## the measurements, one after the other; writes bench/results.json
	@$(VENV)/python -m bench

sam-local: setup ## call each function under `sam local`, in containers, and post a task to its API
	@$(VENV)/python -m tests.sam_local

pictures: setup ## draw the pictures of the command's views in docs/pictures anew
	@$(VENV)/python docs/pictures/draw.py

static:
	@$(VENV)/ruff format --check --quiet . || { echo "check: run 'make format'" >&2; exit 1; }
	@$(VENV)/ruff check --quiet .
	@$(VENV)/mypy
	@$(VENV)/lint-imports --no-cache

lint: setup static ## format, lint, types and import contracts alone

format: setup ## put the code into its format
	@$(VENV)/ruff format .
	@$(VENV)/ruff check --fix --quiet .

# sam finds the interpreter of the runtime on PATH; that of .venv may be it.
ON_PATH = PATH="$(CURDIR)/$(VENV):$$PATH"

deploy: setup ## build and deploy to your AWS account, as samconfig.toml says (ENV=dev or prod)
	@$(ON_PATH) $(VENV)/python -m minutero_cli.deploy before $(ENV)
	@$(ON_PATH) .venv-sam/bin/sam build --cached --parallel --config-env $(or $(ENV),default)
	@.venv-sam/bin/sam deploy --config-env $(or $(ENV),default)
	@$(VENV)/python -m minutero_cli.deploy after $(ENV)

clean: ## stop the local stack; remove the environments and everything built
	@[ ! -x $(VENV)/minutero ] || $(VENV)/minutero local down
	@rm -rf .venv .venv-pip .venv-sam .venv-ministack .venv-audit .minutero .aws-sam .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info bench/results.json
