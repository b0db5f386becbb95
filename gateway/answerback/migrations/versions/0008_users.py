"""Finding what was asked for a user"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    where = sa.text("asked_by <> ''")
    op.create_index(
        "interaction_user", "interaction", ["asked_by", "id"], sqlite_where=where, postgresql_where=where
    )


def downgrade() -> None:
    op.drop_index("interaction_user", "interaction")
