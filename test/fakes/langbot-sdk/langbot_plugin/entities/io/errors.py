"""What calls to the host raise."""


class ConnectionClosedError(Exception):
    def __init__(self, message: str):
        super().__init__(message)


class ActionCallTimeoutError(Exception):
    def __init__(self, message: str):
        super().__init__(message)


class ActionCallError(Exception):
    def __init__(self, message: str, data: dict | None = None):
        super().__init__(message)
        self.message = message
        self.data = data or {}
