"""The review loop: what people look at each week, what they decide, and what their decisions change.

`decisions` says what a decision is and which of them count, `book` keeps them in one append-only file, `known` sees to
it that they are about something, `effects` applies them to cards, lexicon, settings and labels, and `made` names the
cells that they made. `queues` draws what is to be looked at. `names`, `terms`, `endings` and `labels` show what there
is to decide on, `exchange` carries tasks out, and `intake` takes decisions back in.

Decisions are an input like any other: nothing here writes to the warehouse.
"""
