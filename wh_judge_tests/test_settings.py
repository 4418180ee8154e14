"""Flag, then environment, then [tool.wh_judge], then default; a setting that is no good names where it stands."""

import datetime as dt
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from wh_judge.errors import UserError
from wh_judge.review.book import book_of, write_down
from wh_judge.settings import ENVIRONMENT, Settings, load_settings, reading_settings
from wh_judge_tests.review.build import draft


@pytest.fixture(autouse=True)
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory and no variable set."""
    for variable in ENVIRONMENT.values():
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def pyproject(folder: Path, text: str) -> Path:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return folder / "pyproject.toml"


TABLE = """
[tool.wh_judge]
data = "from-file"
inputs = "from-file-too"
first_day = 2026-03-03
docs_url = "http://docs"
keep_snapshots = 2
upload_limit_mb = 7
card_as_of = "turn"
endings = ["요", "네"]
"""
FROM_FILE = Settings.model_validate(
    {
        "data": Path("from-file"),
        "inputs": Path("from-file-too"),
        "first_day": dt.date(2026, 3, 3),
        "docs_url": "http://docs",
        "keep_snapshots": 2,
        "upload_limit_mb": 7,
        "card_as_of": "turn",
        "endings": ("요", "네"),
    }
)


def test_without_anything_the_defaults_count(away: Path) -> None:
    default = Settings.model_validate({})
    expected = default.model_copy(update={"data": away / "data", "inputs": away / "data" / "sample"})
    assert load_settings() == expected.knowing(0)
    assert default.rules.endings == ("요", "죠", "니다", "십시오")


def test_the_file_counts_before_the_defaults(away: Path) -> None:
    pyproject(away, TABLE)
    expected = {"data": away / "from-file", "inputs": away / "from-file-too"}
    assert load_settings() == FROM_FILE.model_copy(update=expected).knowing(0)
    assert load_settings().rules.endings == ("요", "네")


def test_the_environment_counts_before_the_file(away: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyproject(away, TABLE)
    given = {"data": "of-env", "inputs": "/of/env", "first_day": "2026-04-04"}
    for name, value in given.items():
        monkeypatch.setenv(ENVIRONMENT[name], value)
    settings = load_settings()
    assert (settings.data, settings.inputs) == (away / "of-env", Path("/of/env"))
    assert settings.first_day == dt.date(2026, 4, 4)
    assert settings.keep_snapshots == 2


@pytest.mark.parametrize("name", ["data", "inputs"])
def test_a_flag_counts_before_the_environment(name: str, away: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyproject(away, TABLE)
    monkeypatch.setenv(ENVIRONMENT[name], "of-env")
    assert getattr(load_settings(**{name: "of-flag"}), name) == away / "of-flag"
    assert getattr(load_settings(**{name: None}), name) == away / "of-env"


def test_bytes_that_are_not_utf_8_are_told(away: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No run could be started with them: settings are written into it."""
    with pytest.raises(UserError, match=r"^--data: holds bytes that are not UTF-8"):
        load_settings(data=os.fsdecode(b"of-flag\xff"))
    for variable in ("WH_JUDGE_DRAFTS_MODEL", "WH_JUDGE_DRAFTS_URL", "WH_JUDGE_DATA"):
        with monkeypatch.context() as patch, pytest.raises(UserError, match=rf"^{variable}: holds bytes that are not"):
            patch.setenv(variable, os.fsdecode(b"\xff"))
            load_settings()


def test_a_decision_that_the_endings_clash_with_stops_who_judges_and_not_who_reads(away: Path) -> None:
    write_down(book_of(away / "data"), [draft("trailing", "ignore"), draft("ending", "add", ending="용")])
    assert load_settings().ignore_trailing and load_settings().endings[-1] == "용"
    pyproject(away, '[tool.wh_judge]\nendings = ["요", "용~"]')
    with pytest.raises(UserError, match=r"^endings: the ending '용~' holds a mark .*; change the setting, or undo"):
        load_settings()
    assert reading_settings().endings == ("요", "용~")


def test_an_empty_variable_is_not_set(away: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WH_JUDGE_DATA", "")
    assert load_settings().data == away / "data"


def test_paths_of_the_file_are_relative_to_it(away: Path) -> None:
    pyproject(away.parent, TABLE)
    assert load_settings().data == away.parent / "from-file"


def test_paths_of_the_file_may_be_absolute(away: Path) -> None:
    pyproject(away, '[tool.wh_judge]\ndata = "/there"')
    assert load_settings().data == Path("/there")


def test_the_nearest_file_with_the_table_counts(away: Path) -> None:
    pyproject(away.parent, TABLE)
    pyproject(away, "[tool.other]\nx = 1")
    assert load_settings().keep_snapshots == 2
    pyproject(away, "[tool.wh_judge]")
    assert load_settings().keep_snapshots == 5


@pytest.mark.parametrize("text", ["", "tool = 3", "[tool]", "[project]\nname = 'x'", "# nothing"])
def test_a_file_without_the_table_says_nothing(text: str, away: Path) -> None:
    pyproject(away, text)
    assert load_settings() == load_settings(data=str(away / "data"))


BAD: dict[str, tuple[str, str]] = {
    "no TOML": ("[tool", "is no TOML: "),
    "no table": ("[tool]\nwh_judge = 3", r"\[tool\.wh_judge\] is no table"),
    "a list of tables": ("[[tool.wh_judge]]\ndata = 'x'", r"\[tool\.wh_judge\] is no table"),
    "a name that is none": ("[tool.wh_judge]\ndatas = 'x'", r"\[tool\.wh_judge\]: datas: Extra inputs"),
    "a path that is none": ("[tool.wh_judge]\ndata = 3", r"\[tool\.wh_judge\]: data: "),
    "a day that is none": ("[tool.wh_judge]\nfirst_day = 'x'", r"\[tool\.wh_judge\]: first_day: "),
    "no snapshots": ("[tool.wh_judge]\nkeep_snapshots = 0", r"\[tool\.wh_judge\]: keep_snapshots: "),
    "a price below nothing": ("[tool.wh_judge]\ndrafts_prices = [-1.0, 2.0]", r"\[tool\.wh_judge\]: drafts_prices: "),
    "a price that is none": ("[tool.wh_judge]\ndrafts_prices = [nan, 2.0]", r"\[tool\.wh_judge\]: drafts_prices: "),
    "a cap without end": ("[tool.wh_judge]\ndrafts_money = inf", r"\[tool\.wh_judge\]: drafts_money: "),
    "endings that are text": ("[tool.wh_judge]\nendings = '요'", r"\[tool\.wh_judge\]: endings: "),
    "no endings": ("[tool.wh_judge]\nendings = []", r"\[tool\.wh_judge\]: endings: .*name at least one"),
    "an empty ending": ("[tool.wh_judge]\nendings = ['요', '']", r"\[tool\.wh_judge\]: endings: .*is empty"),
    "an ending with a sentence end": ("[tool.wh_judge]\nendings = ['요.']", r"\[tool\.wh_judge\]: endings: .*'요\.'"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_a_bad_setting_names_the_file(text: str, message: str, away: Path) -> None:
    file = pyproject(away, text)
    with pytest.raises(UserError, match=message) as error:
        load_settings()
    assert str(error.value).startswith(str(file))
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_utf_8_is_an_error(away: Path) -> None:
    (away / "pyproject.toml").write_bytes("# 하늘\n[tool.wh_judge]".encode("cp949"))
    with pytest.raises(UserError, match="is no TOML"):
        load_settings()


def test_a_file_that_may_not_be_read_is_an_error(away: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_options: object) -> str:
        raise PermissionError(13, "Permission denied")

    pyproject(away, TABLE)
    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(UserError, match=r"pyproject\.toml: cannot be read: Permission denied$"):
        load_settings()


def test_a_bad_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WH_JUDGE_FIRST_DAY", "2026-13-01")
    with pytest.raises(UserError, match=r"^WH_JUDGE_FIRST_DAY: first_day: "):
        load_settings()


def test_a_bad_flag_is_named(away: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WH_JUDGE_DATA", "fine")
    bad: dict[str, Any] = {"data": 3}
    with pytest.raises(UserError, match=r"^flag: data: "):
        load_settings(**bad)


def test_what_a_run_makes_lies_below_data() -> None:
    settings = load_settings(data="/there")
    assert settings.warehouse == Path("/there/warehouse.duckdb")
    assert settings.published == Path("/there/published")
    assert settings.docs == Path("/there/docs")


def test_the_project_s_own_file_is_valid() -> None:
    file = Path(__file__).parents[1] / "pyproject.toml"
    Settings.model_validate(tomllib.loads(file.read_text("utf-8"))["tool"]["wh_judge"])
