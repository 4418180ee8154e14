"""The option --wait of the commands that only one process at a time can carry out."""

import click


def _wait(ctx: click.Context, _param: click.Parameter, given: bool) -> None:
    if given:
        from wh_judge.store import waiting_on

        ctx.with_resource(waiting_on())


wait = click.option(
    "--wait",
    is_flag=True,
    expose_value=False,
    callback=_wait,
    help="Wait for another wh-judge that is at work until it ends, not for a minute at most.",
)
