"""`wh-judge screen`"""

import ipaddress
import os
import re
import secrets
import signal
import socket
from contextlib import suppress
from types import FrameType

import click

from wh_judge.errors import UserError
from wh_judge.home import dagster_home
from wh_judge.settings import reading_settings

TOKEN = "WH_JUDGE_TOKEN"
GRACE_SECONDS = 3
"""How long answers that are under way may take once the server is told to end."""
INTERRUPTED = 130


@click.command(name="screen")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen at; beyond loopback a token is asked for."
)
@click.option(
    "--port",
    default=3002,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen at; 0 takes a free one.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    help="Host name under which others reach it, such as judge.example.org; may be repeated.",
)
@click.option("--data", type=click.Path(), help="Folder of what a run makes [WH_JUDGE_DATA].")
def command(host: str, port: int, names: tuple[str, ...], data: str | None) -> None:
    """Serve the web page on which people read verdicts.

    It reads published snapshots only, and listens on this machine alone unless told otherwise. Then everybody needs the
    token of WH_JUDGE_TOKEN, or of the address that is printed.

    \b
    Examples:
      wh-judge screen
      wh-judge screen --host 0.0.0.0 --name judge.example.org
    """
    # Before the server takes the signal, nothing has to be put away. As an exception it would be lost where it comes
    # up in a library's import that passes over all exceptions, or in a callback that cannot raise any.
    before = signal.signal(signal.SIGINT, _interrupted)
    try:
        _serve(host, port, names, data)
    finally:
        signal.signal(signal.SIGINT, before)


def _serve(host: str, port: int, names: tuple[str, ...], data: str | None) -> None:
    import uvicorn

    from wh_judge.screen.app import create_app
    from wh_judge.screen.guard import LOOPBACK, Access

    settings = reading_settings(data=data)
    local = _is_loopback(host)
    token = None if local else _token()
    hosts = (*LOOPBACK, *(name.lower() for name in names), _shown(host).lower())
    listener = _listen(host, port)
    address = f"http://{_shown(host)}:{listener.getsockname()[1]}/"
    click.echo(f"{address}{f'?token={token}' if token else ''}", err=True)
    # A dagster.yaml has its paths relative to its folder. Without one nobody can tell whether a daemon runs.
    with suppress(UserError, OSError):
        os.chdir(dagster_home(settings))
    app = create_app(settings, Access(hosts, token))
    config = uvicorn.Config(
        app,
        log_level="warning",
        server_header=False,
        date_header=False,
        timeout_keep_alive=20,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[listener])


def _interrupted(_signal: int, _frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def _token() -> str:
    token = os.environ.get(TOKEN) or secrets.token_urlsafe(24)
    if not re.fullmatch(r"[\w.~-]+", token, re.ASCII):
        raise UserError(f"{TOKEN}: is no token; take letters, digits and . _ ~ - alone")
    return token


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        # Who opens the address as soon as it is printed waits, and is not turned away.
        listener.listen()
    except OSError as error:
        listener.close()
        raise UserError(f"{host}:{port}: cannot be listened at: {error.strerror}; give another --port") from None
    return listener
