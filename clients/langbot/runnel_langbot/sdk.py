"""The LangBot SDK that is installed: where its classes are, and which wire it speaks.

No version number says so: branches and releases share them. What its classes have does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

ROOT = "langbot_plugin.api"
WHICH_SDK = (
    "a plugin with components/agent_runner needs branch dev/4.11.x of https://github.com/langbot-app/langbot-plugin-sdk, "
    "one with components/runner needs langbot-plugin 0.6 or newer of PyPI"
)


class NoSdkError(Exception):
    """No SDK with runners is installed."""


@dataclass(frozen=True)
class Sdk:
    # `spec`, `ledger` or `4.11`, as RegisterRunners takes it.
    era: str
    # Folder of the components, and their `kind`.
    folder: str
    kind: str
    read_context: Callable[[dict[str, Any]], Any]
    # The method of a runner that yields results.
    run_method: str
    # Whether runners may use the object of their plugin.
    gives_plugin: bool
    call_error: type[Exception]
    timeout_error: type[Exception]
    connection_error: type[Exception]


def find_sdk() -> Sdk:
    errors = _import("langbot_plugin.entities.io.errors")
    if errors is None:
        raise NoSdkError(f"langbot_plugin is not installed in this Python: {WHICH_SDK}")
    for folder, class_name, run_method in (("agent_runner", "AgentRunner", "run"), ("runner", "Runner", "invoke")):
        component = _import(f"{ROOT}.definition.components.{folder}.runner")
        entities = _import(f"{ROOT}.entities.builtin.{folder}")
        if component is None or entities is None:
            continue
        context = getattr(entities, "AgentRunContext" if folder == "agent_runner" else "RunnerContext")
        return Sdk(
            era=_era_of(context),
            folder=folder,
            kind=class_name,
            read_context=context.model_validate,
            run_method=run_method,
            gives_plugin="plugin" not in vars(getattr(component, class_name)),
            call_error=errors.ActionCallError,
            timeout_error=errors.ActionCallTimeoutError,
            connection_error=errors.ConnectionClosedError,
        )
    raise NoSdkError(f"the langbot_plugin that is installed has no runners: {WHICH_SDK}")


def _import(name: str) -> Any | None:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        # A module that is missing inside of the SDK is another matter than an SDK that has no such part.
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            return None
        raise


def _era_of(context: Any) -> str:
    """4.11 has no files; `spec` knows nothing of runs that are kept."""
    if "files" not in _fields(context, "resources"):
        return "4.11"
    return "ledger" if "run_get" in _fields(context, "context", "available_apis") else "spec"


def _fields(model: Any, *path: str) -> Any:
    for name in path:
        model = model.model_fields[name].annotation
    return model.model_fields
