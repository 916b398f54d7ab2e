# Generated from the contract by `npm run generate`: do not edit.
"""The messages, enums and services of google.rpc."""

from .contract import export

export("google.rpc", globals())
