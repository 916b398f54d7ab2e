"""The plugin itself, for the installed SDK."""

from langbot_plugin.api.definition.plugin import BasePlugin


class Talk(BasePlugin):
    pass
