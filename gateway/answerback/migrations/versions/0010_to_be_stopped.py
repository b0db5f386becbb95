"""Which agents have still to be told that their run is cancelled"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("run", sa.Column("stop_at", sa.BigInteger(), nullable=True))
    op.add_column("run", sa.Column("stop_by", sa.Text(), server_default="", nullable=False))
    op.add_column("run", sa.Column("stop_attempts", sa.Integer(), server_default="0", nullable=False))
    where = sa.text("stop_at IS NOT NULL")
    op.create_index("run_stop", "run", ["stop_at"], sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    op.drop_index("run_stop", "run")
    for name in ("stop_attempts", "stop_by", "stop_at"):
        op.drop_column("run", name)
