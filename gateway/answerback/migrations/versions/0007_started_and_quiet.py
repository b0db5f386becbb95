"""Who is told of a run that they started by a message; until when a person wants to hear nothing"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("run", sa.Column("told", sa.Text(), server_default="", nullable=False))
    op.add_column("contact", sa.Column("quiet_until", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    op.drop_column("contact", "quiet_until")
    op.drop_column("run", "told")
