"""In which order it was committed: what happened to questions, and where runs stand"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TABLES = ("audit", "run")


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("position", sa.BigInteger(), server_default="0", nullable=False))
        op.create_index(f"{table}_position", table, ["position"])


def downgrade() -> None:
    for table in TABLES:
        op.drop_index(f"{table}_position", table)
        op.drop_column(table, "position")
