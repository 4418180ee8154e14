"""`python -m benchmarks [MEASURE …]`: runs the measures, all of them where none is named, and writes RESULTS.md."""

import argparse
import os
import tempfile
from pathlib import Path

from benchmarks.measures import MEASURES, Bench, now
from benchmarks.report import keep, machine


def main() -> None:
    """Run and write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("measure", nargs="*", choices=[*MEASURES, []], help=", ".join(MEASURES))
    parser.add_argument("--rounds", type=int, default=3, help="runs of each side")
    parser.add_argument("--folder", type=Path, help="where the logs lie, and stay; 40 GB for all measures")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(asked.folder or Path(folder), asked.rounds)
        bench.folder.mkdir(parents=True, exist_ok=True)
        for name in asked.measure or MEASURES:
            print(f"{name} …", flush=True)
            before = os.getloadavg()[0]
            found = MEASURES[name](bench)
            load = f"{before:.1f} to {os.getloadavg()[0]:.1f}"
            for measured in found if isinstance(found, list) else [found]:
                keep(name, measured.document() | {"day": now(), "load": load, "machine": machine()})
                told = f"{measured.ratio:.2f} ({measured.must}), by processors {measured.cpu_ratio:.2f}"
                print(f"{name} beside {measured.against}: {told}", flush=True)


if __name__ == "__main__":
    main()
