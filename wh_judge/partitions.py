"""The days. One partition is one date in Asia/Seoul."""

import dagster as dg

from wh_judge.model import KST
from wh_judge.settings import reading_settings

DAYS = dg.DailyPartitionsDefinition(start_date=str(reading_settings().first_day), timezone=KST.key, end_offset=1)
"""From the setting `first_day` up to and with today, so that a log can be judged while its day is still running."""
