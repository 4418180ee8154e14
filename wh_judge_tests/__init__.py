"""Tests, laid out as the package is. `builders` makes rows, `strategies` hostile ones, `data` holds worked ones."""
