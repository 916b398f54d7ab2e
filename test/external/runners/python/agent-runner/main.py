"""The plugin itself, which must exist before its runners."""


class Talk:
    config: dict

    async def initialize(self) -> None:
        self.is_ready = True
