"""The review loop."""
