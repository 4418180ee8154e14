"""The one kind of error that is the user's to mend."""


class UserError(Exception):
    """Bad usage or input: one line that names the file, the row where there is one, and the remedy."""
