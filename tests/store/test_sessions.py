"""However a PostgreSQL is set up, what is written is durable and can be read, or it is said what is wrong."""

import asyncio
import re
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg import sql

from answerback import migrations
from answerback.errors import ConfigurationError
from answerback.store import Store, choose, meta
from answerback_agents.langgraph.on_postgres import Postgres
from tests.support.network import network_to

pytestmark = pytest.mark.needs_extra("langgraph", "postgres")
SHOWN = ("synchronous_commit", "default_transaction_isolation", "client_encoding")


@pytest.fixture
def odd(postgres_url: str) -> str:
    """A database whose owner has set what nobody expects."""
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        for name, value in zip(SHOWN, ("off", "serializable", "LATIN1"), strict=True):
            change = sql.SQL("ALTER DATABASE {} SET {} = {}")
            names = sql.Identifier(admin.info.dbname), sql.Identifier(name)
            admin.execute(change.format(*names, sql.Literal(value)))
    return postgres_url


def shown(connection: Any) -> list[Any]:
    return [connection.execute(f"SELECT current_setting('{name}') AS it").fetchone() for name in SHOWN]


def test_law_3_a_commit_is_durable_and_a_text_is_kept_whatever_the_database_has_been_set_to(
    odd: str, tmp_path: Path
) -> None:
    with psycopg.connect(odd) as plain:
        assert shown(plain) == [("off",), ("serializable",), ("LATIN1",)]
    for writer in (True, False):
        with choose(odd, str(tmp_path)).connect(writer=writer) as connection:
            assert shown(connection) == [("on",), ("read committed",), ("UTF8",)]
    checkpoints = Postgres(odd, "public")
    checkpoints.ready()
    with checkpoints.cursor() as cursor:
        assert [row["it"] for row in shown(cursor)] == ["on", "read committed", "UTF8"]
    checkpoints.close()


def test_who_has_commits_wait_for_a_standby_has_them_wait(postgres_url: str, tmp_path: Path) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        change = sql.SQL("ALTER DATABASE {} SET synchronous_commit = remote_apply")
        admin.execute(change.format(sql.Identifier(admin.info.dbname)))
    with choose(postgres_url, str(tmp_path)).connect(writer=True) as connection:
        assert shown(connection)[0] == ("remote_apply",)


def url_of(postgres_url: str, user: str, database: str) -> str:
    host = psycopg.conninfo.conninfo_to_dict(postgres_url)["host"]
    return f"postgresql://{user}@/{database}?host={host}"


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_cannot_keep_every_text_is_refused_in_words(
    postgres_url: str, tmp_path: Path, encoding: LiteralString
) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        name = f"{admin.info.dbname}_in_{encoding.lower()}"
        made = sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING {} LC_COLLATE 'C' LC_CTYPE 'C'")
        admin.execute(made.format(sql.Identifier(name), sql.Literal(encoding)))
        try:
            with pytest.raises(ConfigurationError, match=f"its encoding is {encoding}.*ENCODING 'UTF8'"):
                Store(choose(url_of(postgres_url, "postgres", name), str(tmp_path))).open(migrations.upgrade)
        finally:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


async def test_one_of_several_servers_on_ports_of_their_own_is_used(
    postgres_url: str, tmp_path: Path
) -> None:
    async with network_to(postgres_url) as (_, url):
        several = url.replace("127.0.0.1:", "127.0.0.1:1,127.0.0.1:", 1)
        store = Store(choose(several, str(tmp_path)))
        await asyncio.to_thread(store.open, migrations.upgrade)
        await store.write(lambda tx: meta.keep(tx, "kept", "yes"))
        revision, newest = await asyncio.to_thread(migrations.revisions, store.backend.url)
        assert revision == newest
        await asyncio.to_thread(store.close)


def test_who_may_make_no_tables_reads_what_to_say_and_it_helps(postgres_url: str, tmp_path: Path) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        database, user = admin.info.dbname, f"{admin.info.dbname}_user"
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(user)))
        store = Store(choose(url_of(postgres_url, user, database), str(tmp_path)))
        try:
            with pytest.raises(
                ConfigurationError, match=f"say (ALTER DATABASE {database} OWNER TO {user})"
            ) as met:
                store.open(migrations.upgrade)
            admin.execute(re.search(r"ALTER DATABASE \w+ OWNER TO \w+", str(met.value))[0])
            store.open(migrations.upgrade)
            store.close()
        finally:
            admin.execute(sql.SQL("ALTER DATABASE {} OWNER TO postgres").format(sql.Identifier(database)))
            admin.execute(sql.SQL("DROP OWNED BY {}").format(sql.Identifier(user)))
            admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(user)))
