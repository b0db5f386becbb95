"""Notices: messages that ask nothing, and their deliveries"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

INDEXES = {  # partial: predicate, table, column, unique
    "notice_idempotency": ("idempotency_key <> ''", "notice", "idempotency_key", True),
    "delivery_notice": ("notice_id <> ''", "delivery", "notice_id", False),
}


def upgrade() -> None:
    op.create_table(
        "notice",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("content", sa.Text(), server_default="", nullable=False),
        sa.Column("route", sa.Text(), server_default="{}", nullable=False),
        sa.Column("sensitive", sa.Integer(), nullable=False),
        sa.Column("sent_by", sa.String(), nullable=False),
        sa.Column("idempotency_key", sa.String(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.add_column("delivery", sa.Column("notice_id", sa.Text(), server_default="", nullable=False))
    for name, (predicate, table, column, unique) in INDEXES.items():
        where = sa.text(predicate)
        op.create_index(name, table, [column], unique=unique, sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    for name, (_, table, _, _) in INDEXES.items():
        op.drop_index(name, table)
    op.drop_column("delivery", "notice_id")
    op.drop_table("notice")
