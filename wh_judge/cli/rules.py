"""`wh-judge rules`"""

import json
from typing import Any

import click

from wh_judge.errors import UserError


@click.command(name="rules")
@click.argument("code", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(code: str | None, as_json: bool) -> None:
    """Show the rules and their documentation.

    All rules in the order they are tried, or the one with CODE.

    \b
    Examples:
      wh-judge rules
      wh-judge rules speech
    """
    from wh_judge.rules import RULES

    chosen = [rule for rule in RULES if code in (None, rule.code)]
    if not chosen:
        raise UserError(f"{code}: is no rule; the codes are {', '.join(rule.code for rule in RULES)}")
    documents = [_document(rule) for rule in chosen]
    if as_json:
        click.echo(json.dumps(documents, ensure_ascii=False, indent=2))
        return
    for place, document in enumerate(documents):
        click.echo(("\n" if place else "") + click.style(f"{document['code']}  {document['verdict']}", bold=True))
        for name in ("what", "why", "reference"):
            click.echo(
                click.wrap_text(
                    document[name], width=100, initial_indent=f"  {name + ':':<11}", subsequent_indent=" " * 13
                )
            )
        for name in ("breaks", "keeps"):
            click.echo(f"  {name + ':':<11}{document[name]['reply_text']}")
            click.echo(f"{'':13}{document[name]['verdict']}: {document[name]['summary']}")


def _document(rule: Any) -> dict[str, Any]:
    return {
        "code": rule.code,
        "verdict": rule.verdict,
        "what": rule.what,
        "why": rule.why,
        "reference": rule.reference,
        "breaks": _judged(rule.breaks),
        "keeps": _judged(rule.keeps),
    }


def _judged(example: Any) -> dict[str, Any]:
    """The example with what the judge says of it now, not with what somebody wrote down once."""
    from wh_judge.rules import Case, Lexicon, first_mentions, judge_turn

    mentions = first_mentions([*example.earlier, example.turn])
    verdict, _ = judge_turn(Case(example.turn, example.card, Lexicon(example.lexicon), mentions))
    return {"reply_text": example.turn.reply_text, "verdict": verdict.verdict, "summary": verdict.summary}
