# Generated from the contract by `npm run generate`: do not edit.
"""The messages, enums and services of runnel.exchange.v1."""

from .contract import export

export("runnel.exchange.v1", globals())
