"""What the forms have in common: the cells of a vote before it is checked, and which model was on which side."""

from collections.abc import Mapping
from typing import Any

Cells = dict[str, Any]
"""The cells of a vote as a file has them."""
Items = Mapping[str, Cells]
"""What an annotation tool was given, by the id of the item: case_id, model_a, model_b, shown_left."""

OTHER = {"model_a": "model_b", "model_b": "model_a"}


def shown_cells(cells: Mapping[str, Any]) -> Cells:
    """Of cells those that say which replies were shown."""
    shown: Cells = {name: cells[name] for name in ("case_id", "model_a", "model_b", "shown_left") if name in cells}
    return shown | ({"case_id": name_of(shown["case_id"])} if "case_id" in shown else {})


def name_of(value: Any) -> Any:
    """Whole numbers name things, too; anything else stays as it is, for the model to judge."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def winner_on(side: str, cells: Mapping[str, Any]) -> str:
    """Which of the two models was on this side; where it was not remembered, the first is on the left."""
    left = cells.get("shown_left") or "model_a"
    if not isinstance(left, str) or left not in OTHER:
        raise ValueError(f"shown_left is neither model_a nor model_b ({left!r})")
    return left if side == "left" else OTHER[left]
