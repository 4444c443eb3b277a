"""The cost of a search, before anything is spent: candidates, evaluations, and how they change with the target."""

from topalpha.planner.bills import Bill
from topalpha.planner.caps import Cap, sure_cap
from topalpha.planner.cost import Case, Cost, expect, references
from topalpha.planner.pilot import Pilot, read_pilot, summarise
from topalpha.planner.pilot_rewards import Softened
from topalpha.planner.planning import Plan, PlanRow, Row, plan

__all__ = [
    "Bill",
    "Cap",
    "Case",
    "Cost",
    "Pilot",
    "Plan",
    "PlanRow",
    "Row",
    "Softened",
    "expect",
    "plan",
    "planning",
    "read_pilot",
    "references",
    "summarise",
    "sure_cap",
]
