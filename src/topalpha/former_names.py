"""Modules that have moved: imports of their former names, and pickles with them, still work."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_FIELD = (
    *("al_q_ik", "al_q_iu", "bucb", "cc_lucb_k", "cc_lucb_streaming", "cc_me", "cc_threshold", "d_ttts"),
    *("eb_tc", "finite_solvers", "fixed_budget", "glr", "hyperband", "isha", "jhr", "joint_one_phase", "kqp_1"),
    *("likelihood_toss", "lucb_k_m", "p2", "p2_batched", "p3", "pair_design", "siri"),
    *("track_and_stop", "ttts", "ugape"),
)
_AUDIT = ("cases", "cell", "judgement", "replay", "survival", "trial_cases", "trials", "worlds")
_COMPARISON = ("cells", "configuration")

#: The former name of each module, and the modules that now hold its contents.
FORMER: dict[str, tuple[str, ...]] = {
    "rewards": ("families.protocols",),
    "models": ("families.units",),
    "core": ("rules.protocol", "rules.registration"),
    "confidence.base": ("rules.columns",),
    "tournament": ("rules.tournament",),
    "ranking": ("rules.ranking",),
    "elimination": ("rules.elimination",),
    "claims": ("rules.claims",),
    "contests": ("rules.median_elimination",),
    "glr": ("rules.likelihood_ratio",),
    "joint": ("rules.joint_stop",),
    "algorithms.joint_claims": ("rules.joint_claims",),
    "algorithms.lucb_pp_models": ("algorithms.lucb_pp",),
    "algorithms.brackets": ("algorithms.field.bucb",),
    "algorithms.schedules_threshold": ("algorithms.field.al_q_ik",),
    "algorithms.streaming_pool": ("algorithms.field.cc_lucb_streaming",),
    "weighted": ("rules.weighted_rows",),
    "bounds": ("confidence.tilt",),
    "evidence": ("confidence.gap",),
    "streams": ("randomness",),
    "plain": ("storage.plain_text",),
    "places": ("storage.outputs",),
    "drafts": ("storage.outputs",),
    "runs": ("simulation.runs",),
    "journal": ("ask_tell.trail",),
    "replay": ("ask_tell.replaying", "storage.recording"),
    "task": ("ask_tell.task",),
    "result": ("ask_tell.result", "simulation.study"),
    "proved": ("ask_tell.standing",),
    "wording": ("certificate.document", "session.agreement", "storage.encoding"),
    "verification": ("session.verification",),
    "agreement": ("session.agreement",),
    "progress": ("session.progress", "ask_tell.standing", "session.agreement"),
    "snapshots": ("session.progress", "ask_tell.standing"),
    "identity": ("session.identity",),
    "driving": ("running.drive",),
    "practice": ("running.entry",),
    "origin": ("standing.moments",),
    "table1": ("research.table1",),
    "audit": ("research.audit",),
    "comparison": ("research.comparison",),
    "dashboard.arms": ("dashboard.states",),
    "dashboard.connections": ("dashboard.serving", "dashboard.access"),
    "dashboard.channels": ("dashboard.watching",),
    "dashboard.tickets": ("dashboard.access",),
    "execution.budget": ("execution.endings",),
    "execution.interrupts": ("execution.endings",),
    "execution.ledger": ("execution.loop", "execution.endings"),
    "execution.worker": ("execution.calls", "execution.executors"),
    "storage.guard": ("storage.writer",),
    "storage.lock": ("storage.store",),
    "storage.pulse": ("storage.writer",),
    "storage.schema": ("storage.tables", "storage.files"),
    "figures.arms": ("figures.all_arms",),
    "theory.arms": ("theory.arm_counts",),
    "planner.worlds": ("planner.pilot_rewards",),
    "figures.words": ("figures.labels",),
    "report.words": ("report.sentences",),
    "sklearn.settings": ("sklearn.distributions",),
    "reservoirs.scores": ("reservoirs.item_scores",),
    "testing.runs": ("testing.drivers",),
    "engine.run": ("engine.compiled_run",),
    "comparison.report": ("research.comparison.tables",),
    "dashboard.reading": ("dashboard.file_reader",),
    "figures.proved": ("figures.certified_curve",),
    "comparison.ledger": ("research.comparison.finished_cells",),
    "comparison.figures": ("research.comparison.pictures",),
    "comparison.running": ("research.comparison.measuring",),
    "testset.audit": ("testset.score_audit",),
    "figures.errors": ("figures.error_rates",),
    **{f"audit.{name}": (f"research.audit.{name}",) for name in _AUDIT},
    **{f"comparison.{name}": (f"research.comparison.{name}",) for name in _COMPARISON},
    **{f"algorithms.{name}": (f"algorithms.field.{name}",) for name in _FIELD},
}

#: The former name of each class or function that has another name now.
RENAMED = {
    **{f"{module}.Case": "AuditCase" for module in ("audit", "audit.cell")},
    **{f"{module}.Cell": "AuditCell" for module in ("audit", "audit.cell")},
    **{f"{module}.Case": "ComparisonCase" for module in ("comparison", "comparison.configuration")},
    **{f"{module}.Cell": "ComparisonCell" for module in ("comparison", "comparison.cells")},
    "algorithms.finite_solvers.Rounds": "EliminationContest",
    "comparison.figures.curves": "dots",
    "comparison.ledger.Ledger": "FinishedCells",
    **{f"engine.run.{loop}": "advance" for loop in ("advance_blocks", "advance_pulls")},
    "runs.Outcome": "RunOutcome",
    "table1.Row": "PaperRow",
    "testset.audit.Record": "RuleRuns",
    "wording.legible": "quotation",
}


class FormerModule(ModuleType):
    """A module by its former name; its attributes are looked up in its new homes.

    An import binds it in its package, where a function may have the same name: it can be called as that function.
    """

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return dir(self)
        former = self.__name__.removeprefix("topalpha.")
        current = RENAMED.get(f"{former}.{name}", name)
        for home in FORMER[former]:
            found = import_module(f"topalpha.{home}")
            if hasattr(found, current):
                return getattr(found, current)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        """The public names of its new homes, under their former names."""
        former = self.__name__.removeprefix("topalpha.")
        renamed = {new: old.rpartition(".")[2] for old, new in RENAMED.items() if old.rpartition(".")[0] == former}
        homes = [import_module(f"topalpha.{home}") for home in FORMER[former]]
        names = {name for home in homes for name in dir(home) if not name.startswith("_")}
        return sorted(renamed.get(name, name) for name in names)

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Call the function of this name."""
        return getattr(self, self.__name__.rpartition(".")[2])(*arguments, **options)


class FormerNames:
    """Finds modules by their former names.

    It is a finder and loader of the import system without its base classes, which are slow to import.

    Examples
    --------
    >>> from topalpha.core import Claim
    >>> Claim.__module__
    'topalpha.rules.protocol'
    """

    @staticmethod
    def find_spec(fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec of a module of this package that has moved; else None."""
        package, _, name = fullname.partition(".")
        if package != "topalpha" or name not in FORMER:
            return None
        has_modules = any(other.startswith(f"{name}.") for other in FORMER)
        return ModuleSpec(fullname, FormerNames, is_package=has_modules)  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> FormerModule:
        """The module, which has nothing of its own."""
        return FormerModule(spec.name)

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Do nothing: there is no code to run."""


# First of all finders: a folder left behind by an earlier version must not be taken for a package.
sys.meta_path.insert(0, FormerNames)
