"""Elementary functions out of additions, multiplications and divisions: the same bits on every machine.

The C library's ``log`` and ``exp`` differ in the last bit from one system to the next, and what an algorithm does next
may depend on it. IEEE 754 fixes the results of ``+``, ``-``, ``*``, ``/`` and ``sqrt``, and ``frexp`` and ``ldexp`` are
exact. What is made of them alone is the same everywhere, interpreted or compiled, as long as the compiler does not fuse
a product with a sum. All rules, families and bounds take their functions from here.
"""

from topalpha.arithmetic.elementary import cube_root, exact_sum, exp, expm1, log, log1p, log1p_absolute, power
from topalpha.arithmetic.lattice import CANONICAL, known_place, outward, slack, step_to_root, unknown_bounds

__all__ = [
    "CANONICAL",
    "cube_root",
    "elementary",
    "exact_sum",
    "exp",
    "expm1",
    "known_place",
    "log",
    "log1p",
    "log1p_absolute",
    "outward",
    "power",
    "slack",
    "step_to_root",
    "unknown_bounds",
]
