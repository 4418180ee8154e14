"""Tests, laid out as the package is. `builders` makes rows, `strategies` makes hostile ones, `data` holds worked ones."""
