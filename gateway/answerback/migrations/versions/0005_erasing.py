"""Since when it is not known any more what was asked, answered and told"""

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


def downgrade() -> None:
    for table in TABLES:
        op.drop_column(table, "erased_at")
