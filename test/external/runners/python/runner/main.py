"""The plugin itself, of the SDK that is installed."""

from langbot_plugin.api.definition.plugin import BasePlugin


class Talk(BasePlugin):
    pass
