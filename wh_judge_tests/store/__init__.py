"""Tests of the warehouse, in a DuckDB file of their own; `wh_judge_tests.house` fills it."""
