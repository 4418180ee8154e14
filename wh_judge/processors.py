"""How many processors there are for this process, which may be fewer than the machine has."""

import os

PROCESSORS = max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
