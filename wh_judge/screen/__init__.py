"""The screen: a small server-rendered web application where people read verdicts, in Korean.

Here belong: pages, their queries over a published snapshot, and what guards them. Each request reads one snapshot, from
its first query to its last. Every state of a page is in its address, and every page works without a script.

Here does not belong: the warehouse, which is Dagster's alone, and anything that decides a verdict.
"""
