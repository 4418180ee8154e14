"""Texts of the command line that are looked up in tables."""

from typing import Any

import click


class _Word(click.ParamType[str]):
    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text; bytes that are not UTF-8 stand in no table."""
        try:
            str(value).encode()
        except UnicodeEncodeError:
            self.fail("is not UTF-8", param, ctx)
        return str(value)


WORD = _Word()
