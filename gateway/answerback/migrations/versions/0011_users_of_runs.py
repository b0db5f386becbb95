"""For whom a run was started"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("run", sa.Column("asked_by", sa.Text(), server_default="", nullable=False))


def downgrade() -> None:
    op.drop_column("run", "asked_by")
