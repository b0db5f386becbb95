"""What every flow test can ask for."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.databases import with_tables

if TYPE_CHECKING:
    from tests.support.postgres import PostgresServer


@pytest.fixture
def postgres_url(postgres: "PostgresServer") -> Iterator[str]:
    """A database as a gateway's first start leaves it: with its tables, without a row."""
    with with_tables(postgres) as url:
        yield url
