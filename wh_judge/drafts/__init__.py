"""Drafts: a language model may write the sentence of a verdict. It decides nothing.

`prompt` says what is asked, `endpoint` asks it, `budget` and `cache` bound what that costs, `ask` does it for many at
once, `completion` reads what comes back, `gate` weighs it, and `day` does all of it for a day, which `tally` counts.
What does not hold is refused, and the rule's default sentence stands. `batch` and `score` do the same with files.

Here does not belong: the warehouse (`wh_judge.store.drafts`) and Dagster.
"""
