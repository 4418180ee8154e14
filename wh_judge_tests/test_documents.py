"""The documents name everything that there is, agree with each other, and show what the program does now."""

import importlib
import json
import re
import shlex
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pytest

from wh_judge.cli import COMMANDS, HELP, main
from wh_judge.evaluation.agreement import measure_agreement
from wh_judge.files import read_log_table
from wh_judge.ingest import read_table
from wh_judge.inputs import TABLES
from wh_judge.judge import judge
from wh_judge.model import VERDICT_SCHEMA, VERDICTS, Evidence, Verdict, verdict_document, verdict_from_record
from wh_judge.readers import READERS
from wh_judge.rules import RULES
from wh_judge.settings import ENVIRONMENT, Settings
from wh_judge.validations import VALIDATIONS
from wh_judge_tests.documents import ROOT, Document, files, read, spans

ENGLISH, KOREAN = read(ROOT / "README.md"), read(ROOT / "README.ko.md")
SAMPLE = ROOT / "data" / "sample"

in_both = pytest.mark.parametrize("document", [ENGLISH, KOREAN], ids=lambda document: document.name)
each_command = pytest.mark.parametrize("name", COMMANDS)


def command(name: str) -> click.Command:
    found: click.Command = importlib.import_module(f"wh_judge.cli.{name}").command
    return found


def _commands() -> list[tuple[str, click.Command]]:
    """All commands by the words that call them, those inside a group instead of the group."""
    found: list[tuple[str, click.Command]] = []
    for name in COMMANDS:
        one = command(name)
        inside = one.commands.items() if isinstance(one, click.Group) else []
        found += [(f"{name} {word}", sub) for word, sub in inside] or [(name, one)]
    return found


def _group() -> click.Context:
    """What the commands take over from; a command keeps the names of its help option from the first call on."""
    return click.Context(main, info_name="wh-judge", **main.context_settings)


def _targets() -> list[str]:
    return re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def _argument(param: click.Parameter) -> str:
    return param.metavar or param.opts[0].upper()


def _names() -> dict[str, list[str]]:
    """What the READMEs must name, by kind."""
    columns = [*(name for table in TABLES.values() for name in table.schema.names), *Verdict.model_fields]
    parameters = [param for _, found in _commands() for param in found.params]
    return {
        "command": [f"`wh-judge {name}" for name, _ in _commands()],
        "option": [param.opts[0] if isinstance(param, click.Option) else _argument(param) for param in parameters],
        "rule": [f"`{rule.code}`" for rule in RULES],
        "verdict": [f"`{verdict}`" for verdict in VERDICTS],
        "validation": [f"`{validation.code}`" for validation in VALIDATIONS],
        "setting": [f"`{name}`" for name in Settings.model_fields],
        "variable": [f"`{name}`" for name in ENVIRONMENT.values()],
        "target": [f"`make {target}`" for target in _targets()],
        "table": [f"`{name}`" for name in TABLES],
        "column": [f"`{name}`" for name in dict.fromkeys(columns)],
        "file type": [f"`{suffix}`" for suffix in READERS],
    }


@in_both
@pytest.mark.parametrize("kind", _names())
def test_everything_is_named(document: Document, kind: str) -> None:
    names = _names()[kind]
    assert names and [name for name in names if name not in document.text] == []


def test_the_readmes_lead_to_each_other() -> None:
    assert "README.ko.md" in ENGLISH.links and "README.md" in KOREAN.links


def test_the_readmes_have_the_same_headings() -> None:
    assert [level for level, _ in ENGLISH.headings] == [level for level, _ in KOREAN.headings]


def test_the_readmes_have_the_same_tables() -> None:
    """Row by row; what stands in backquotes in the first column is the same, too."""

    def shape(document: Document) -> list[list[tuple[int, list[str]]]]:
        return [[(len(row), spans(row[0])) for row in table] for table in document.tables]

    assert shape(ENGLISH) == shape(KOREAN)


def test_the_readmes_show_the_same_code() -> None:
    assert ENGLISH.blocks == KOREAN.blocks


def _nullable(schema: pa.Schema) -> dict[str, bool]:
    return {field.name: field.nullable for field in schema}


SCHEMAS: dict[str, dict[str, bool]] = {
    **{table.name: _nullable(table.schema) for table in TABLES.values()},
    "verdict": {name: null for name, null in _nullable(VERDICT_SCHEMA).items() if name in Verdict.model_fields},
    "evidence": {name: name in ("agg", "value") for name in Evidence.model_fields if name != "key"},
}


@in_both
@pytest.mark.parametrize("schema", SCHEMAS)
def test_every_table_is_described_with_what_may_be_null(document: Document, schema: str) -> None:
    columns = SCHEMAS[schema]
    found = [rows for _, *rows in document.tables if [spans(row[0]) for row in rows] == [[name] for name in columns]]
    assert len(found) == 1
    assert {spans(row[0])[0]: bool(row[2]) for row in found[0]} == columns


@in_both
def test_settings_are_told_with_flag_variable_and_default(document: Document) -> None:
    [rows] = [rows for _, *rows in document.tables if [spans(row[0]) for row in rows] == [[n] for n in SETTINGS]]
    flags = {option for param in command("run").params for option in param.opts}
    for (name, default), row in zip(SETTINGS.items(), rows, strict=True):
        assert spans(row[1]) == [flag for flag in [f"--{name}"] if flag in flags]
        assert spans(row[2]) == [variable for setting, variable in ENVIRONMENT.items() if setting == name]
        defaults = default if isinstance(default, tuple) else () if default is None else (default,)
        assert spans(row[3]) == [str(value) for value in defaults]


SETTINGS = {name: field.default for name, field in Settings.model_fields.items()}


def test_no_link_is_dead() -> None:
    dead = []
    for path in files():
        if path.suffix != ".md":
            continue
        document = read(path)
        for link in document.links:
            if re.match(r"[a-z]+:", link):
                continue
            target, _, anchor = link.partition("#")
            place = path.parent / target if target else path
            if not place.exists() or (anchor and anchor not in read(place).anchors):
                dead.append(f"{path.name}: {link}")
    assert dead == []


@pytest.mark.parametrize(("name", "found"), [*((name, command(name)) for name in COMMANDS), *_commands()])
def test_every_command_tells_what_it_does_with_an_example(name: str, found: click.Command) -> None:
    text = found.get_help(click.Context(found, info_name=name, parent=_group()))
    assert HELP.get(name, "") in text
    assert _examples(found.help or ""), "no example"
    assert [param.name for param in found.params if isinstance(param, click.Option) and not param.help] == []


def test_the_group_has_examples() -> None:
    assert main.help and _examples(main.help)


EXAMPLES = {
    **{f"{name} --help": found.help or "" for name, found in [*((n, command(n)) for n in COMMANDS), *_commands()]},
    "--help": main.help or "",
    **{f"{document.name} {i}": text for document in (ENGLISH,) for i, (_, text) in enumerate(document.blocks)},
}


@pytest.mark.parametrize("where", [where for where, text in EXAMPLES.items() if "wh-judge " in text])
def test_every_example_can_be_called(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As far as that the command takes its words; the files that it names are there."""
    monkeypatch.chdir(tmp_path)
    for name, *words in _examples(EXAMPLES[where]):
        for word in words:
            (Path(word) if word.endswith("/") else Path(word).parent).mkdir(parents=True, exist_ok=True)
            Path(word).touch()
        with command(name).make_context(name, list(words), parent=_group()):
            pass


def _examples(text: str) -> list[list[str]]:
    """The calls of wh-judge in a text, each as its words without the first."""
    lines = re.sub(r"\\\n\s*", " ", text).splitlines()
    return [shlex.split(line)[1:] for line in map(str.strip, lines) if line.startswith("wh-judge ")]


HOSTS = re.compile(
    r"\b(?:pypi\.(?:org|io)|pythonhosted\.org|npmjs\.(?:com|org)|anaconda\.(?:com|org)|crates\.io|ghcr\.io"
    r"|docker\.(?:com|io)|jfrog\.io|proxy\.golang\.org)\b"
)
PLACES = re.compile(r"(?<![\w.~$*})\]/-])/(?:home|Users|root|work|mnt|tmp|opt|private)/\w|\b[A-Z]:\\+Users\b")


def test_no_file_names_a_registry_or_a_place_on_somebody_s_machine() -> None:
    found = []
    for path in files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            if match := HOSTS.search(line) or PLACES.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {match[0]}")
    assert found == []


@cache
def _sample() -> tuple[list[dict[str, Any]], Any]:
    """The verdicts of the sample, and their agreement with its labels."""
    turns = read_log_table(SAMPLE / "turns").rows
    cards = read_table(SAMPLE / "cards.json", TABLES["character_card"]).rows
    lexicon = read_table(SAMPLE / "lexicon.csv", TABLES["topic_lexicon"]).rows
    gold = read_table(SAMPLE / "gold.csv", TABLES["gold_label"]).rows
    judgement = judge(turns, cards, lexicon)
    return judgement.verdicts.to_pylist(), measure_agreement(gold, judgement.verdicts, judgement.unjudged)


@in_both
def test_the_figures_are_those_of_the_sample(document: Document) -> None:
    verdicts, agreement = _sample()
    models = sorted({row["model_id"] for row in verdicts})
    counts = Counter((row["verdict"], row["model_id"]) for row in verdicts)
    for verdict in VERDICTS:
        of_models = [counts[verdict, model] for model in models]
        assert re.search(rf"^ {verdict} +{' +'.join(map(str, [*of_models, sum(of_models)]))}$", document.text, re.M)
    assert f"Agreement with the labels: {agreement.agreed} of {agreement.found} = " in document.text
    assert f"Turns where label and judge differ ({len(agreement.diverging)})" in document.text


@in_both
def test_the_faults_that_are_told_are_those_of_the_sample(document: Document) -> None:
    _, agreement = _sample()
    faults = Counter(turn.verdict for turn in agreement.diverging)
    assert {turn.label for turn in agreement.diverging} == {VERDICTS[0]}
    rows = [row for _, *rows in document.tables for row in rows if row[1].isdigit()]
    assert {spans(row[0])[0]: int(row[1]) for row in rows} == faults


@in_both
def test_the_examples_of_rules_are_turns_that_they_hold_on(document: Document) -> None:
    verdicts = {row["turn_id"]: row["verdict"] for row in _sample()[0]}
    [rows] = [rows for _, *rows in document.tables if [spans(row[0]) for row in rows] == [[r.code] for r in RULES]]
    for rule, row in zip(RULES, rows, strict=True):
        assert spans(row[1]) == [rule.verdict] == [verdicts[spans(row[4])[0]]]


def test_the_verdict_that_is_shown_is_the_judge_s() -> None:
    [shown] = [json.loads(text) for language, text in ENGLISH.blocks if language == "json"]
    [record] = [row for row in _sample()[0] if row["turn_id"] == shown["turn_id"]]
    assert shown == verdict_document(verdict_from_record(record))
