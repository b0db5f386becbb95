"""What goes on with a thread is found without reading through its past"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("run_thread", "run")
    op.create_index("run_thread", "run", ["agent", "thread_id", "id"])
    live = sa.text("status IN ('running', 'waiting', 'failed') OR stop_at IS NOT NULL")
    op.create_index("run_live", "run", ["agent", "thread_id", "id"], sqlite_where=live, postgresql_where=live)
    op.drop_index("interaction_thread", "interaction")
    interrupted = sa.text("interrupt_id <> ''")
    op.create_index(
        "interaction_interrupted",
        "interaction",
        ["thread_id", "interrupt_id", "agent"],
        sqlite_where=interrupted,
        postgresql_where=interrupted,
    )


def downgrade() -> None:
    op.drop_index("interaction_interrupted", "interaction")
    op.create_index("interaction_thread", "interaction", ["agent", "thread_id"])
    op.drop_index("run_live", "run")
    op.drop_index("run_thread", "run")
    op.create_index("run_thread", "run", ["agent", "thread_id"])
