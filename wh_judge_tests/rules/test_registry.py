"""The registry: every rule once, in order, documented, and its version."""

import importlib
import shutil
from pathlib import Path

import pytest

from wh_judge import rules
from wh_judge.model import COLUMNS, SCHEMA_VERSION, VERDICTS
from wh_judge.rules import RULES, rules_version
from wh_judge.rules.rule import Example, Rule
from wh_judge_tests.builders import by_kernel, by_references, judged, together

PACKAGE = Path(rules.__file__).parents[1]
NO_RULES = {"__init__", "rule", "hedge"}
KEPT = "설정대로 말함"

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)


def test_the_order_is_that_of_the_specification() -> None:
    assert [(rule.code, rule.verdict) for rule in RULES] == [
        ("forbidden", "금지 소재 접촉"),
        ("canon", "세계관 밖 고유명사"),
        ("speech", "말투 어긋남"),
        ("recall", "앞 회차를 기억 못 함"),
        ("kept", "설정대로 말함"),
    ]


def test_codes_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len(RULES)


def test_every_verdict_has_one_rule() -> None:
    assert sorted(rule.verdict for rule in RULES) == sorted(VERDICTS)
    assert dict(rules.RULE_BY_VERDICT) == {rule.verdict: rule for rule in RULES}


def test_every_rule_file_is_registered_under_its_name() -> None:
    files = {file.stem for file in (PACKAGE / "rules").glob("*.py")} - NO_RULES
    assert {rule.code for rule in RULES} == files


@each_rule
def test_a_rule_stands_in_the_file_of_its_code(rule: Rule) -> None:
    module = importlib.import_module(f"wh_judge.rules.{rule.code}")
    assert getattr(module, rule.code.upper()) is rule


@each_rule
def test_a_rule_file_names_its_verdict(rule: Rule) -> None:
    assert (importlib.import_module(f"wh_judge.rules.{rule.code}").__doc__ or "").startswith(f"{rule.verdict}: ")


@each_rule
def test_every_rule_has_its_tests(rule: Rule) -> None:
    assert (Path(__file__).parent / f"test_{rule.code}.py").is_file()


@each_rule
@pytest.mark.parametrize("field", ["what", "why", "reference"])
def test_every_rule_is_documented(rule: Rule, field: str) -> None:
    text = getattr(rule, field)
    assert text.endswith(".") and len(text.split()) > 5


@each_rule
def test_an_example_breaks_the_rule(rule: Rule) -> None:
    """Of the rule that holds where no other does, by giving another verdict."""
    verdict = judged(rule.breaks)["verdict"]
    assert verdict != KEPT if rule.verdict == KEPT else verdict == rule.verdict


@each_rule
def test_an_example_keeps_the_rule(rule: Rule) -> None:
    assert judged(rule.keeps)["verdict"] == KEPT


@each_rule
def test_the_examples_of_a_rule_are_about_the_same_card(rule: Rule) -> None:
    """So that it is the turn which makes the difference."""
    assert rule.breaks.card == rule.keeps.card


@each_rule
def test_both_forms_agree_on_the_examples(rule: Rule) -> None:
    log = together([rule.breaks, rule.keeps])
    assert by_kernel(log) == by_references(log)


@each_rule
@pytest.mark.parametrize("which", ["breaks", "keeps"])
def test_evidence_cites_columns_that_exist(rule: Rule, which: str) -> None:
    case: Example = getattr(rule, which)
    evidence = judged(case)["evidence"]
    assert evidence and [row for row in evidence if row["field"] not in COLUMNS[row["source"]]] == []


taken_anew = rules_version.__wrapped__
"""The version that a process takes which starts now."""


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package, of which the version is then taken."""
    copy = tmp_path / "wh_judge"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(rules, "__file__", str(copy / "rules" / "__init__.py"))
    return copy


def test_the_version_does_not_depend_on_the_place(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = taken_anew()
    monkeypatch.undo()
    assert taken_anew() == elsewhere


@pytest.mark.parametrize(
    "file", ["judge.py", "text.py", *(f"rules/{file.name}" for file in sorted((PACKAGE / "rules").glob("*.py")))]
)
def test_the_version_changes_with_what_decides_verdicts(copied: Path, file: str) -> None:
    before = taken_anew()
    with (copied / file).open("a", encoding="utf-8") as source:
        source.write("\n")
    assert taken_anew() != before


def test_the_version_changes_with_a_new_rule_file(copied: Path) -> None:
    before = taken_anew()
    (copied / "rules" / "other.py").write_text('"""Another rule."""\n', encoding="utf-8")
    assert taken_anew() != before


def test_the_version_stays_with_what_only_shows_verdicts(copied: Path) -> None:
    before = taken_anew()
    (copied / "report.py").write_text("", encoding="utf-8")
    assert taken_anew() == before


def test_the_version_changes_with_the_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    before = taken_anew()
    monkeypatch.setattr(rules, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    assert taken_anew() != before


def test_the_version_is_that_of_the_code_that_is_loaded(copied: Path) -> None:
    before = rules_version()
    with (copied / "judge.py").open("a", encoding="utf-8") as source:
        source.write("\n")
    assert rules_version() == before
