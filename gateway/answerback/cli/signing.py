"""`signing-secret`: what receivers of a `callback_url` check signatures with."""

import click

from answerback.cli.options import local


@click.command("signing-secret")
@local
def signing_secret(config: str | None, as_json: bool) -> None:
    """Print the secret that signs what is posted to a callback_url.

    Give it to the receiver, and to nobody else: a Standard Webhooks library takes it as it is.
    """
    import os
    import pathlib

    from answerback import settings
    from answerback.cli import terminal
    from answerback.installation import signing_key
    from answerback.signing import secret_of

    found = settings.load(config, environ=os.environ)
    pathlib.Path(found.data_dir).mkdir(parents=True, exist_ok=True, mode=0o700)
    secret = secret_of(signing_key(found))
    if as_json:
        return terminal.put_json({"signing_secret": secret})
    terminal.out(secret)
