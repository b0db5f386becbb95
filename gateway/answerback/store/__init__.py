"""The store: every transaction and every statement lives here, and nowhere else."""

from answerback.store.backend import choose
from answerback.store.engine import Store
from answerback.store.tx import Row, Tx

__all__ = ["Row", "Store", "Tx", "choose"]
