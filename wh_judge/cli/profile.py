"""`wh-judge profile`"""

import json
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from wh_judge.cli.words import WORD
from wh_judge.errors import UserError
from wh_judge.report import safe
from wh_judge.settings import reading_settings

if TYPE_CHECKING:
    from wh_judge.evaluation.profile import ModelDifference


@click.command(name="profile")
@click.argument("first", metavar="[MODEL_ID]", required=False, type=WORD)
@click.argument("second", metavar="[OTHER_MODEL_ID]", required=False, type=WORD)
@click.option("--data", type=click.Path(), help="Folder of what a run makes [WH_JUDGE_DATA].")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(first: str | None, second: str | None, data: str | None, as_json: bool) -> None:
    """Show what each model is good at, or how two models differ.

    From 0 to 100 on each axis, with the number of turns that a score rests on. With two models, such as a fine-tune and
    its base: the first less the second on the prompts that both answered.

    \b
    Examples:
      wh-judge profile
      wh-judge profile byeol-large haneul-7b
    """
    from wh_judge.evaluation.profile import measure_difference, measure_profiles
    from wh_judge.store import read_warehouse
    from wh_judge.store.evaluations import read_scores

    with read_warehouse(reading_settings(data=data).warehouse) as connection:
        scores = read_scores(connection)
    models = sorted(set(scores["model_id"].to_pylist()))
    if not models:
        raise UserError("no turn has a verdict yet; run wh-judge run first")
    for name in filter(None, (first, second)):
        if name not in models:
            raise UserError(f"{name}: no turn of this model has a verdict; there are {', '.join(models)}")
    if first is not None and second is None:
        raise UserError(f"{first}: name a second model to compare it with; there are {', '.join(models)}")
    console = Console(emoji=False, highlight=False)
    if first is not None and second is not None:
        difference = measure_difference(scores, first, second)
        if as_json:
            click.echo(json.dumps(difference.model_dump(), ensure_ascii=False, indent=2))
        else:
            _print_difference(difference, console)
        return
    document = measure_profiles(scores).model_dump()
    if as_json:
        click.echo(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        _print_profiles(document, console)


def _print_profiles(document: dict[str, Any], console: Console) -> None:
    from wh_judge.evaluation.scores import AXES
    from wh_judge.report import number_table

    console.print("[bold]Profiles[/bold], 0 to 100 (turns)")
    rows = number_table("model", *AXES, "overall")
    for profile in document["profiles"]:
        cells = [f"{_points(axis['score'])} ({axis['turns']})" for axis in profile["axes"]]
        rows.add_row(safe(profile["model_id"]), *cells, _points(profile["overall"]))
    console.print(rows)
    for caution in document["cautions"]:
        console.print(f"  {safe(caution)}", soft_wrap=True)


def _print_difference(difference: "ModelDifference", console: Console) -> None:
    from wh_judge.report import number_table

    console.print(
        f"[bold]{safe(difference.first)}[/bold] less [bold]{safe(difference.second)}[/bold], in points, on the prompts"
        " that both answered",
        soft_wrap=True,
    )
    rows = number_table("axis", "prompts", "difference", "95 % interval")
    for axis in difference.axes:
        interval = "–" if axis.low is None or axis.high is None else f"{axis.low:+.1f} – {axis.high:+.1f}"
        known = "–" if axis.difference is None else f"{axis.difference:+.1f}"
        rows.add_row(axis.axis, str(axis.prompts), known, interval)
    console.print(rows)


def _points(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
