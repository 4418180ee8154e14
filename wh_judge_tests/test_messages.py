"""`docs/operations.md` names each message that a user can meet, with a remedy, and none that there is not."""

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from wh_judge_tests.documents import ROOT, read, spans

PACKAGE = ROOT / "wh_judge"
GAP = "\0"
"""Stands in a message for what is filled in."""


def _template(node: ast.AST) -> str | None:
    """The text of a literal, with gaps where something is filled in; None where it is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_template(value) or GAP for value in node.values)
    return None


@cache
def _trees() -> dict[str, ast.Module]:
    return {
        path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def _raised() -> Iterator[tuple[str, str]]:
    """Where a UserError is made, and its message; those with no words of their own hand on what another one says."""
    for name, tree in _trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "UserError":
                message = _template(node.args[0]) or GAP
                if re.search(r"[^\W\d_]{2}", message):
                    yield f"{name}:{node.lineno}", message


RAISED = dict(_raised())


@cache
def _documented() -> list[tuple[str, str]]:
    """Each message that stands in a table of messages, and its remedy."""
    tables = [rows for head, *rows in read(ROOT / "docs" / "operations.md").tables if head == ["message", "remedy"]]
    return [(message, row[1]) for rows in tables for row in rows for message in spans(row[0])]


def _says(documented: str, message: str) -> bool:
    """Whether a documented message is part of one; `…` is whatever is filled in."""
    parts = [re.escape(part.strip()) for part in documented.split("…") if part.strip()]
    return re.search(".*?".join(parts), message, re.DOTALL) is not None


@pytest.mark.parametrize("where", RAISED)
def test_each_message_stands_among_the_messages_and_remedies(where: str) -> None:
    found = [remedy for documented, remedy in _documented() if _says(documented, RAISED[where])]
    assert found, RAISED[where].replace(GAP, "…")
    assert all(found)


@cache
def _texts() -> str:
    nodes = (node for tree in _trees().values() for node in ast.walk(tree))
    return "\n".join(text for text in map(_template, nodes) if text)


@pytest.mark.parametrize("documented", [message for message, _ in _documented()])
def test_no_message_is_told_of_that_there_is_not(documented: str) -> None:
    """Every part of it stands in the code; what a library or a file's name adds is left out."""
    parts = [part.strip() for part in re.split("…|stale.json: |pyproject.toml: ", documented)]
    assert [part for part in parts if part not in _texts()] == []


def test_a_message_that_is_not_documented_would_be_found() -> None:
    assert not any(
        _says(documented, f"{GAP}: is something that nobody has written about") for documented, _ in _documented()
    )
