"""How well the judge agrees with people, and how often each model leaves its card.

Here belong: the figures (`agreement`, `divergence`) and their pictures (`pictures`), as pure functions from Arrow
tables to frozen models and PNG bytes. What cannot be computed is None, never zero.

Here does not belong: reading or writing tables, Dagster, and any decision about a single turn (see `wh_judge.rules`).
"""
