"""wh-judge: judges by rules whether each reply in a chat log kept to its character's card."""

__version__ = "0.1.0"
