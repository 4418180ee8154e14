"""What people and other judges say of replies: their rows, the files of other tools, and the journal of new votes.

Here does not belong: what follows from votes (see `wh_judge.evaluation`), tables and Dagster.
"""
