"""What a run that failed is to do when it is tried again"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Until now whatever had failed was retried, also what had never begun.
    op.execute("UPDATE run SET intent = 'retry' WHERE status = 'failed' AND intent IN ('start', 'replace')")


def downgrade() -> None:
    """Nothing to take back: that is how they were taken before."""
