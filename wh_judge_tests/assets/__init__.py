"""Tests of the assets and of the graph, in Dagster instances of their own; `graph.run` runs a job over a house."""
