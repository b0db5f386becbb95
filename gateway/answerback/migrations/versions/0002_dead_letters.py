"""Dead letters: their indexes, and which of them are done with; receipts that come before their message"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

INDEXES = {
    "delivery_unsent": ("delivery", "status IN ('failed', 'unknown') AND error <> 'no longer needed'"),
    "reply_unread": ("reply", "error <> ''"),
    "interaction_ungiven": (
        "interaction",
        "resumed_at IS NULL AND resume_next_at IS NULL AND resume_error <> ''",
    ),
    "interaction_damaged": ("interaction", "reason = 'its record cannot be read'"),
    "run_failed": ("run", "status = 'failed'"),
}


def upgrade() -> None:
    for name, (table, predicate) in INDEXES.items():
        where = sa.text(predicate)
        op.create_index(name, table, ["id"], sqlite_where=where, postgresql_where=where)
    op.create_table(
        "letter",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("done", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.add_column("message", sa.Column("parked", sa.String(), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("message", "parked")
    op.drop_table("letter")
    for name, (table, _) in INDEXES.items():
        op.drop_index(name, table)
