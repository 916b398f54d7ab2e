"""The plugin itself, which has to be there before its runners."""


class Talk:
    config: dict

    async def initialize(self) -> None:
        self.is_ready = True
