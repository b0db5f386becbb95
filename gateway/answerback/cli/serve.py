"""`serve`: the gateway as a process."""

import click

from answerback.cli.errors import DEBUG, Exit
from answerback.cli.options import local


@click.command()
@click.option("--listen", metavar="HOST:PORT", help="Instead of the configuration's; port 0: any free one.")
@click.option("--log-json", is_flag=True, help="Log as JSON, a line an event.")
@local
def serve(config: str | None, listen: str | None, log_json: bool, as_json: bool) -> None:
    """Run the gateway until Ctrl-C or SIGTERM."""
    from answerback.cli import logs

    context = click.get_current_context()
    logs.start(as_json=log_json, debug=bool(context.meta.get(DEBUG)))
    context.exit(_serve(config, listen, as_json))


def _serve(config: str | None, listen: str | None, as_json: bool) -> Exit:
    """What can be wrong is found in order of how fast: the configuration, the port, then everything else."""
    import os

    from answerback import garbage, settings
    from answerback.cli.listening import bind, bind_metrics

    loaded = settings.load(config, environ=os.environ, overrides={"listen": listen})
    with bind(loaded) as listener, bind_metrics(loaded) as metrics:
        if loaded.port == 0:
            listen = f"{loaded.listen.rpartition(':')[0]}:{listener.getsockname()[1]}"
            loaded = settings.load(config, environ=os.environ, overrides={"listen": listen})

        with garbage.Ignored():  # what is imported stays: to look through it takes an eighth of the time
            from answerback.cli import serving
        return serving.run(loaded, listener, metrics, as_json=as_json)
