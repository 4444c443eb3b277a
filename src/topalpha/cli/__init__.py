"""The command line. Nothing heavy is imported before a command runs, so that ``--help`` answers at once.

>>> import sys, subprocess
>>> code = "import sys, topalpha.cli; print(any(name in sys.modules for name in ('numpy', 'scipy', 'numba', 'rich')))"
>>> subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip()
'False'
"""

from __future__ import annotations

import click

from topalpha import __version__
from topalpha.cli.audit import audit
from topalpha.cli.bounds import bounds
from topalpha.cli.compare import compare
from topalpha.cli.control import control
from topalpha.cli.dashboard import dashboard
from topalpha.cli.demo import demo
from topalpha.cli.duel import duel
from topalpha.cli.figure import figure
from topalpha.cli.listing import listing
from topalpha.cli.plan import plan
from topalpha.cli.program import Program
from topalpha.cli.records import export, show, verify
from topalpha.cli.report import report
from topalpha.cli.run import resume, run
from topalpha.cli.scores import scores
from topalpha.cli.simulate import simulate
from topalpha.cli.table1 import table1

__all__ = ["main"]


@click.group(cls=Program, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="topalpha %(version)s")
@click.pass_context
def main(context: click.Context) -> None:
    """Find a near-best candidate in an endless pool, with a proof.

    The mean of the candidate (arm) is within epsilon of the top alpha fraction of an unknown pool (reservoir), with
    probability at least 1 - delta. Begin with: topalpha demo. Help on a command: topalpha run --help.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


main.add_section("Search", demo, plan, run, resume, scores, duel)
main.add_section("Look at a search", show, dashboard, figure, report)
main.add_section("Control and check", control, verify, export)
main.add_section("Study algorithms", listing, simulate, compare, table1, bounds, audit)
