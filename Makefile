# Each of these goes from a bare checkout (Debian, Python 3.11 or newer) to done; the second time only the work itself is left.
# Another Python: make PYTHON=python3.12 …   Arguments: make demo ARGS=…, make test ARGS="-k binding"

.PHONY: help demo test check live bench conformance mutants reference constraints lowest clean
export PYTHON

help:
	@echo "make demo         an agent asks, you answer on a phone in the browser, the agent goes on"
	@echo "make test         every test: the bare core's without extras, the others with all"
	@echo "make check        ruff, mypy, import-linter"
	@echo "make live         the real Telegram, WhatsApp and a mailbox, with your credentials (docs/proof.md)"
	@echo "make bench        ratios against bare LangGraph and the least that could be done (about 20 minutes)"
	@echo "make conformance  hazards of answer binding, on answerback and on its peers (minutes)"
	@echo "make mutants      removes each safeguard in turn: a named test must fail each time (minutes)"
	@echo "make reference    writes docs/reference.md from the program"
	@echo "make constraints  pin the newest versions that pyproject.toml admits"
	@echo "make lowest       every test with the lowest versions that pyproject.toml admits"
	@echo "make clean        remove what the commands above made; var/ keeps your data"

# Ctrl-C (130) is a way to end the demo, not an error.
demo:
	@sh scripts/setup.sh run
	@trap : INT; .venv/bin/answerback demo $(ARGS) || { code=$$?; [ $$code = 130 ] || exit $$code; }

test:
	@sh scripts/test.sh $(ARGS)

check:
	@sh scripts/check.sh

live:
	@sh scripts/setup.sh dev
	@.venv/bin/python -m tests.live

bench:
	@sh scripts/bench.sh $(ARGS)

conformance:
	@sh scripts/conformance.sh $(ARGS)

mutants:
	@sh scripts/mutants.sh $(ARGS)

reference:
	@sh scripts/setup.sh run
	@.venv/bin/python scripts/reference.py

constraints:
	@sh scripts/constraints.sh

lowest:
	@sh scripts/lowest.sh $(ARGS)

clean:
	rm -rf .venv var/setup dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find gateway providers agents demo examples tests -name __pycache__ -prune -exec rm -rf {} +
