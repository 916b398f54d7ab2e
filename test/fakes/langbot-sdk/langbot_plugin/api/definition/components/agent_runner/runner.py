"""What runners are made from."""


class AgentRunner:
    def bind_runtime(self, *, plugin_runtime_handler, plugin_config=None, plugin_identity=None):
        self._plugin_runtime_handler = plugin_runtime_handler
        self._plugin_config = plugin_config
        self._plugin_identity = plugin_identity

    @property
    def plugin(self):
        raise AttributeError("an AgentRunner has no plugin")

    def get_plugin_config(self):
        return dict(self._plugin_config)

    @classmethod
    def get_config_schema(cls):
        return []

    async def initialize(self):
        pass
