"""Hypothesis: no deadline, since machines differ, and a blob that repeats a failure."""

from hypothesis import settings

settings.register_profile("wh_judge", deadline=None, print_blob=True)
settings.load_profile("wh_judge")
