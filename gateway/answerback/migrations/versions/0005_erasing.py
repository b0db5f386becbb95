"""Since when it is not known any more what was asked, answered and told; salts that can be erased"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TABLES = ("interaction", "run", "notice")


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("erased_at", sa.BigInteger(), nullable=True))
    op.add_column("audit", sa.Column("salt", sa.Text(), server_default="", nullable=False))


def downgrade() -> None:
    op.drop_column("audit", "salt")
    for table in TABLES:
        op.drop_column(table, "erased_at")
