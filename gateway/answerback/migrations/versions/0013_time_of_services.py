"""What a service says of when it took a message is kept: its replies are told apart by its own clock"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("delivery", sa.Column("service_at", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    op.drop_column("delivery", "service_at")
