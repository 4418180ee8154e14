"""The review loop: what people look at each week, what they decide, and what their decisions change.

`decisions` says what a decision is, `book` keeps them in one append-only file, `effects` applies them to cards,
lexicon, settings and labels. `queues` draws what is to be looked at. `names`, `terms`, `endings` and `labels` show what
there is to decide on, `exchange` carries tasks out, and `intake` takes decisions back in.

Decisions are an input like any other: nothing here writes to the warehouse.
"""
