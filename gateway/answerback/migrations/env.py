"""Alembic's entry: migrates on the connection it was given."""

from alembic import context

from answerback.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
