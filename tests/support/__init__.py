"""What tests share: real counterparts to talk to, and the rule for when one is missing."""

from tests.support.missing import missing, require

__all__ = ["missing", "require"]
