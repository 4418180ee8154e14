"""The results as a page, from what is kept of each measure's newest run."""

import json
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KEPT, PAGE, NOTES = HERE / "results.json", HERE / "RESULTS.md", HERE / "notes.md"


def keep(name: str, document: Mapping[str, Any]) -> None:
    """Keep the newest run of a measure and write the page."""
    known = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    known[f"{name} beside {document['against']}"] = dict(document)
    KEPT.write_text(json.dumps(known, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(known), encoding="utf-8")


def machine() -> dict[str, str]:
    """What the numbers depend on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3
    cpu = Path("/proc/cpuinfo")
    models = [line for line in cpu.read_text().splitlines() if line.startswith("model name")] if cpu.exists() else []
    return {
        "processor": f"{models[0].partition(': ')[2] if models else platform.processor()}, {os.cpu_count()} cores",
        "memory": f"{memory:.0f} GB",
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "libraries": ", ".join(f"{name} {version(name)}" for name in ("duckdb", "pyarrow", "pandas", "dagster")),
    }


def page(known: Mapping[str, Mapping[str, Any]]) -> str:
    """The page in Markdown."""
    lines = [
        "# Results",
        "",
        "Written by `make bench`; `benchmarks/measures.py` says what each row runs. Both sides of a row ran in turn on",
        "one machine: medians of the seconds, with the seconds of processors in brackets, and the most memory that the",
        "first side and the processes that it starts held at a time. The load is that before and after the runs. A",
        "ratio whose limit is in seconds is in seconds, too.",
        "",
        "| measure | against | rounds | took | the other took | memory | ratio | by processors | must | reached |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in known.values():
        took, beside = row["took"], row["beside"]
        cells = [
            row["what"],
            row["against"],
            str(row["rounds"]),
            _time(took),
            _time(beside) if row["against"] else "",
            f"{took['gigabytes']:.2f} GB",
        ]
        ratios = [f"{ratio:.3f}" if ratio < 0.1 else f"{ratio:.2f}" for ratio in (row["ratio"], row["cpu_ratio"])]
        lines.append("| " + " | ".join([*cells, *ratios, row["must"], "yes" if row["reached"] else "**no**"]) + " |")
    lines += ["", "## The machine", ""]
    facts: dict[str, list[str]] = {}
    for row in known.values():
        about = "; ".join(f"{name}: {value}" for name, value in row["machine"].items())
        facts.setdefault(f"{row['day']}, load {row['load']}: {about}", []).append(row["what"])
    lines += [f"- {', '.join(names)} — {fact}" for fact, names in facts.items()]
    if NOTES.exists():
        lines += ["", NOTES.read_text("utf-8").strip()]
    return "\n".join(lines) + "\n"


def _time(took: Mapping[str, float]) -> str:
    return f"{took['seconds']:.1f} s ({took['cpu']:.1f})"
