"""The `jobbko` command. One file is one subcommand, named after it (local_ai.py: local-ai); found, not listed."""

from __future__ import annotations

import importlib
import pkgutil
import signal
import sys
from typing import NoReturn

import click
import psycopg2

import jobbko
from jobbko.errors import JobError, NothingMatched, UserError


class _Commands(click.Group):
    """Subcommands are imported when they are asked for, so `jobbko --help` costs nothing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        names = (module.name for module in pkgutil.iter_modules(__path__))
        return sorted(name.replace("_", "-") for name in names if not name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"{__name__}.{cmd_name.replace('-', '_')}").command
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(jobbko.__version__, prog_name="jobbko")
def cli() -> None:
    """Background jobs for applications that live on audio, text and pictures. Postgres is the queue.

    Without DATABASE_URL an embedded Postgres is used, which starts by itself.

    Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing matched.
    """


def main() -> NoReturn:
    """Run the command; a person's mistake ends in one sentence, not in a traceback.

    Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing matched; 130 and 143 interrupted.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        cli(standalone_mode=False)
    except click.exceptions.Abort as error:
        _fail(" ".join(("Interrupted.", *map(str, error.args))), 130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except NothingMatched as error:
        _fail(str(error), 3)
    except (UserError, JobError) as error:
        _fail(str(error), 1)
    except psycopg2.OperationalError as error:
        if error.pgcode is not None and not error.pgcode.startswith(("08", "28", "3D", "57P")):
            _fail(f"The database refused for now: {error.diag.message_primary}. Try it again.", 1)
        _fail(f"The database cannot be reached: {str(error).strip()}\nIs DATABASE_URL right? `jobbko doctor` looks.", 1)
    except psycopg2.errors.UndefinedTable as error:
        _fail(
            f"This database has no queue yet ({error.diag.message_primary}). Run `jobbko migrate`.",
            1,
        )
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    sys.exit(0)


def _fail(message: str, code: int) -> NoReturn:
    click.echo(message, err=True)
    sys.exit(code)
