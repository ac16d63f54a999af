"""Results of instances that nobody had to repair."""

from typing import Any

from cogworks.evaluation.report import Mu, Result, Stage, Transactions


def result(name: str, outcome: str = "solved", **more: Any) -> Result:
    """One instance with a plausible outcome."""
    told: dict[str, Any] = {
        "instance_id": name,
        "outcome": outcome,
        "model": "claude-sonnet-5-5",
        "patch": f"patch of {name}\n" if outcome == "solved" else "",
        "changed_lines": 3,
        "files": ("a.py",),
        "transactions": Transactions(tried=2, kept=1, codes=("gate_targeted", "kept"), refused=1),
        "mu": Mu(before=100, after=1.5),
        "stages": (
            Stage(name="prepare", runs=1, duration_s=0.5),
            Stage(name="analyze_failure", runs=1, duration_s=2.25, calls=2, input_tokens=20, cost_usd=0.1),
            Stage(name="judge", runs=1, duration_s=1.5),
        ),
        "calls": 2,
        "input_tokens": 20,
        "output_tokens": 10,
        "cost_usd": 0.1,
        "duration_s": 4.5,
    }
    return Result.model_validate({**told, **more})
