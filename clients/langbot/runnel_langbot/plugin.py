"""The folder of a LangBot plugin: who wrote it, which runners are in it, and their classes.

One process runs one plugin: every plugin has top-level packages of the same names, and reads files beside them.
"""

import os
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

from .sdk import WHICH_SDK, Sdk


class PluginError(Exception):
    """The folder holds no plugin with runners, or one that cannot be read."""


@dataclass(frozen=True)
class Component:
    """A class that a manifest names."""

    module: str
    attr: str

    def make(self) -> Any:
        return getattr(import_module(self.module), self.attr)()


@dataclass(frozen=True)
class RunnerComponent:
    # As RegisterRunners takes it.
    manifest: dict[str, Any]
    component: Component

    @property
    def runner_id(self) -> str:
        return str(self.manifest["id"])


@dataclass(frozen=True)
class Plugin:
    # `author/name`.
    identity: str
    # The class of the plugin itself, where it has one.
    main: Component | None
    runners: tuple[RunnerComponent, ...]


def open_plugin(folder: Path, sdk: Sdk) -> Plugin:
    """From now on the folder is the working directory, and imports look there first."""
    root = folder.resolve()
    manifest = _read_yaml(root / "manifest.yaml")
    identity = f"{_member(manifest, 'metadata.author')}/{_member(manifest, 'metadata.name')}"
    paths = sorted((root / "components" / sdk.folder).glob("*.yaml"))
    runners = tuple(_read_runner(root, path, identity, sdk) for path in paths)
    if not runners:
        raise PluginError(
            f"no components/{sdk.folder}/*.yaml in {root}, where the SDK that is installed looks: {WHICH_SDK}"
        )
    os.chdir(root)
    sys.path.insert(0, str(root))
    return Plugin(identity=identity, main=_find_main(root, manifest), runners=runners)


def _read_runner(root: Path, path: Path, identity: str, sdk: Sdk) -> RunnerComponent:
    described = _read_yaml(path)
    if described.get("kind") != sdk.kind:
        raise PluginError(f"{path}: kind is {described.get('kind')!r}, and the SDK that is installed has {sdk.kind!r}")
    metadata, spec = _member(described, "metadata"), described.get("spec") or {}
    name = _member(described, "metadata.name")
    manifest = {
        "id": f"plugin:{identity}/{name}",
        "name": name,
        "label": metadata.get("label") or {"en_US": name},
        "capabilities": spec.get("capabilities") or {},
        "permissions": spec.get("permissions") or {},
        "config_schema": spec.get("config") or [],
    }
    if metadata.get("description") is not None:
        manifest["description"] = metadata["description"]
    return RunnerComponent(manifest=manifest, component=_find_component(root, path.parent, described))


def _find_main(root: Path, manifest: dict[str, Any]) -> Component | None:
    return _find_component(root, root, manifest) if "execution" in manifest else None


def _find_component(root: Path, folder: Path, described: dict[str, Any]) -> Component:
    """A path is relative to the file that names it."""
    source = (folder / _member(described, "execution.python.path")).resolve()
    if not source.is_file() or not source.is_relative_to(root):
        raise PluginError(f"{source} is no file of the plugin")
    module = ".".join(source.relative_to(root).with_suffix("").parts)
    return Component(module=module, attr=_member(described, "execution.python.attr"))


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise PluginError(f"{path}: {error}") from error
    if not isinstance(value, dict):
        raise PluginError(f"{path} holds no mapping")
    return value


def _member(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    if value is None:
        raise PluginError(f"a manifest has no {path}")
    return value
