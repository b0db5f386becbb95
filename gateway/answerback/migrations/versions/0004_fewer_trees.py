"""Small rows in the tree of their key; answers, audit and events by what they are found by"""

from collections.abc import Mapping

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

# The keys from now on. SQLite cannot change a key: the rows are copied.
KEYS = {
    "answer": ("interaction_id", "id"),
    "audit": ("interaction_id", "seq"),
    "message": ("provider", "message_id"),
    "pace": ("account", "place"),
    "reply": ("provider", "event_id"),
    "thread_lease": ("agent", "thread_id"),
}
BEFORE = KEYS | {"answer": ("id",), "audit": ("id",), "reply": ("id",)}
LARGE = frozenset({"reply"})  # these rows would not fit into the tree of their key
BY_ID = {  # indexes that a table had beside its id, and which are its key now
    "answer": ("answer_interaction", ["interaction_id"], False),
    "audit": ("audit_interaction", ["interaction_id", "seq"], True),
    "reply": ("reply_event", ["provider", "event_id"], True),
}
UNREAD = ("reply_unread", "reply", ["id"], "error <> ''")


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        _copied(KEYS, with_rowid=LARGE)
        return
    op.drop_index("answer_interaction", "answer")
    for table in BY_ID:
        op.drop_constraint(f"{table}_pkey", table)
    op.create_primary_key("answer_pkey", "answer", ["interaction_id", "id"])
    for table in ("audit", "reply"):  # their unique index becomes the key, as it stands
        index = BY_ID[table][0]
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT {table}_pkey PRIMARY KEY USING INDEX {index}")


def downgrade() -> None:
    sqlite = op.get_bind().dialect.name == "sqlite"
    if sqlite:
        _copied(BEFORE, with_rowid=frozenset(BEFORE))
    for table, (index, columns, unique) in BY_ID.items():
        if not sqlite:
            op.drop_constraint(f"{table}_pkey", table)
            op.create_primary_key(f"{table}_pkey", table, ["id"])
        op.create_index(index, table, columns, unique=unique)


def _copied(keys: Mapping[str, tuple[str, ...]], *, with_rowid: frozenset[str]) -> None:
    """Each table anew, with this key and the columns that it has now, its rows in the order of the key."""
    for name, key in keys.items():
        old = sa.Table(name, sa.MetaData(), autoload_with=op.get_bind(), resolve_fks=False)
        others = [column.name for column in old.columns if column.name not in key]
        columns = [old.c[column] for column in (*key, *others)]
        new = op.create_table(
            f"{name}_new",
            *(sa.Column(c.name, c.type, nullable=False, server_default=c.server_default) for c in columns),
            sa.PrimaryKeyConstraint(*key),
            sqlite_with_rowid=name in with_rowid,
        )
        op.execute(new.insert().from_select(columns, sa.select(*columns).order_by(*(old.c[k] for k in key))))
        op.drop_table(name)
        op.rename_table(f"{name}_new", name)
    index, table, found_by, predicate = UNREAD
    op.create_index(index, table, found_by, sqlite_where=sa.text(predicate))
