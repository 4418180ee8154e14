"""Tables on a terminal of 80 columns: long names fold, numbers stay whole."""

import io
import re
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from wh_judge.cli.votes_shown import print_ratings
from wh_judge.evaluation.bradley_terry import Tally
from wh_judge.evaluation.ratings import rate_arena
from wh_judge.model import VERDICTS
from wh_judge.report import _print_verdicts, number_table

LONG = "model-" + "m" * 54


def terminal() -> Console:
    return Console(file=io.StringIO(), width=80, emoji=False, highlight=False)


def printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert max(len(line) for line in text.splitlines()) <= 80
    return text


def numbers(text: str) -> list[str]:
    return re.findall(r"(?<!\S)\d[\d,.]*(?!\S)", text)


@pytest.mark.parametrize("texts", [1, 2, 4])
def test_text_folds_and_numbers_stay_whole(texts: int) -> None:
    table: Table = number_table(*(f"text {n}" for n in range(texts)), "rating", "own rating", text=texts)
    table.add_row(*(f"{n}" + LONG for n in range(texts)), "1234567", "7654321")
    console = terminal()
    console.print(table)
    text = printed(console)
    assert {"1234567", "7654321"} <= set(numbers(text))
    assert text.count("m") == texts * LONG.count("m")


def test_ratings_of_long_names_have_all_their_numbers() -> None:
    console = terminal()
    print_ratings(rate_arena([Tally("a", LONG, 1234, 1111, 1002, 1001)], [], {"screen": 4348}), console)
    text = printed(console)
    heads = ("rating", "95 % interval", "own rating", "votes", "won", "lost", "half")
    assert [head for head in heads if head not in text] == []
    assert {"4348", "1234", "1111", "2003"} <= set(numbers(text))


def test_verdicts_of_models_of_long_names_have_all_their_numbers() -> None:
    models = [f"{n}{LONG}" for n in range(4)]
    rows: list[dict[str, Any]] = [
        {"model_id": model, "verdict": VERDICTS[0], "turns": 123_456 + place} for place, model in enumerate(models)
    ]
    console = terminal()
    _print_verdicts({"verdicts_by_model": rows}, console)
    assert {"123456", "123457", "123458", "123459", "493830"} <= set(numbers(printed(console)))
