"""The project's documents as data: headings, tables, blocks of code and links of a markdown file, and all files."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FENCE = "```"


@dataclass(frozen=True)
class Document:
    """A markdown file. Nothing is read inside blocks of code but the blocks themselves."""

    name: str
    text: str
    headings: list[tuple[int, str]]
    tables: list[list[list[str]]]
    """Rows of cells, the header first; the line under it is left out."""
    blocks: list[tuple[str, str]]
    """Language and text."""
    links: list[str]
    """Targets of links and pictures."""

    @property
    def anchors(self) -> set[str]:
        """What a link with # can lead to."""
        return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for _, title in self.headings}


def read(path: Path) -> Document:
    """Reads a markdown file."""
    text = path.read_text(encoding="utf-8")
    headings: list[tuple[int, str]] = []
    tables: list[list[list[str]]] = []
    blocks: list[tuple[str, str]] = []
    prose: list[str] = []
    before = ""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith(FENCE):
            code = []
            for inside in lines:
                if inside.startswith(FENCE):
                    break
                code.append(inside)
            blocks.append((line.removeprefix(FENCE), "\n".join(code)))
        elif line.startswith("|"):
            if not before.startswith("|"):
                tables.append([])
            if not set(line) <= set("|- :"):
                tables[-1].append([cell.strip() for cell in line.strip("|").split("|")])
        elif found := re.fullmatch(r"(#+) (.+)", line):
            headings.append((len(found[1]), found[2]))
        prose.append(line)
        before = line
    links = re.findall(r"\]\(([^)\s]+)\)", "\n".join(prose))
    return Document(path.name, text, headings, tables, blocks, links)


def spans(cell: str) -> list[str]:
    """What stands in backquotes in a cell."""
    return re.findall(r"`([^`]+)`", cell)


def files() -> list[Path]:
    """The files of the checkout that are tracked or about to be."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    return [path for path in (ROOT / name for name in names.split("\0") if name) if path.is_file()]
