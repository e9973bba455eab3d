# SPDX-License-Identifier: BSD-3-Clause
"""Cases in which Python calls the module: with damaged files, and with objects that nobody gives."""

import os
import random
import sys
from pathlib import Path

from . import mutate
from .context import Case, Context
from .runner import tree

CALLS = Path(__file__).resolve().parents[3] / "fuzz" / "python_calls.py"
# The interpreter that has NumPy and that the module was built for may not be the first.
INTERPRETERS = (sys.executable, "/usr/bin/python3", "python3")
POOLS = {"archives/ring": (mutate.ARCHIVE, mutate.ARCHIVE_WEIGHTS),
         "runs/synth": (mutate.RECORDINGS, mutate.RECORDINGS_WEIGHTS),
         "spans/otlp": (mutate.RECORDINGS, mutate.RECORDINGS_WEIGHTS),
         "edges/csv": (mutate.EDGES, mutate.EDGES_WEIGHTS),
         "edges/jsonl": (mutate.EDGES, mutate.EDGES_WEIGHTS)}


class Python:
    """fuzz/python_calls.py, each time with another seed."""
    name, weight = "Python", 4

    def draw(self, draw: random.Random, number: int, context: Context) -> Case:
        base = draw.choice(list(POOLS))
        pool, weights = POOLS[base]
        return Case(base, mutate.draw_steps(draw, list(pool), list(weights.values())),
                    more={"seed": draw.getrandbits(32)})

    def run(self, context: Context, case: Case) -> None:
        if context.python is None or not self._interpreter(context):
            context.note("no Python module")
            return
        context.lay(case)
        before = tree(context.place / "in")
        usual, context.runner.tool = context.runner.tool, self._interpreter(context)
        try:
            outcome = context.tool([os.fspath(CALLS), "--seed", str(case.more["seed"]), "--calls",
                                    "8", "in"], ("out",), (0, 3), self._environment(context))
        finally:
            context.runner.tool = usual
        if outcome.code == 3:
            context.find("Python", outcome, outcome.err.strip().rsplit("\n", 1)[-1][:300])
        context.unchanged(before)

    def _environment(self, context: Context) -> dict[str, str]:
        return {"PYTHONPATH": os.fspath(context.python), "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONFAULTHANDLER": "1", "OPENBLAS_NUM_THREADS": "1"}

    def _interpreter(self, context: Context) -> str:
        """The first that can import the module; empty if none can."""
        if "interpreter" not in context.references:
            context.references["interpreter"] = next(
                (one for one in INTERPRETERS if os.path.exists(one) and context.runner.run(
                    one, ["-c", "import entrain_clocks"], self._environment(context)).code == 0), "")
        return context.references["interpreter"]
