# Generated from the contract by `npm run generate`: do not edit.
"""The messages, enums and services of runnel.community.v1."""

from .contract import export

export("runnel.community.v1", globals())
