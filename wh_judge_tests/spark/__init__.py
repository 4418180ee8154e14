"""The engine spark, on a cluster of two threads."""
