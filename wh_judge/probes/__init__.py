"""Probe cases: prompts that try a card on purpose, each with a reply that keeps to it and one that does not.

`case` holds the rows, `templates` writes drafts, `check` accepts a draft only where the judge can tell the two replies
apart, `make` fills the least covered cells, `files` freezes a set under a digest and gives it out, `results` reads what
models made of it. Source of the way of working: HarnessEval-W (taxonomy, probe families, a validator that draws again).
"""
