"""Speed, memory and growth, measured side by side: `make bench` writes benchmarks/RESULTS.md.

`made` makes the logs, `timed` measures processes, `measures` says what is measured beside what, `report` writes it.
"""
