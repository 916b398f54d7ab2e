"""The worker of a plugin: its runners are made once, and take the runs that the service offers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runnel_client import Credentials, aio
from runnel_client.worker import Assignment, Worker

from .handler import Handler
from .plugin import Plugin
from .run import perform_with
from .sdk import Sdk


@dataclass(frozen=True)
class Options:
    worker_id: str
    credentials: Credentials | None = None
    max_concurrent: int = 10
    plugin_config: dict[str, Any] = field(default_factory=dict)


async def run_plugin(url: str, options: Options, plugin: Plugin, sdk: Sdk) -> None:
    """Works until it is cancelled. Raises RefusedWorkerError."""
    handler = Handler(sdk)
    runners = await _make_runners(handler, options, plugin, sdk)

    async def perform(assignment: Assignment) -> None:
        await perform_with(runners[assignment.runner_id], handler, sdk, assignment)

    async with aio.connect(url, options.credentials) as client:
        worker = Worker(
            client.transport,
            options.credentials,
            worker_id=options.worker_id,
            manifests=[each.manifest for each in plugin.runners],
            perform=perform,
            era=sdk.era,
            max_concurrent=options.max_concurrent,
        )
        await worker.run()


async def _make_runners(handler: Handler, options: Options, plugin: Plugin, sdk: Sdk) -> Mapping[str, Any]:
    """Once, as their own host does: what they keep in themselves is there for the next run."""
    main = None if plugin.main is None else plugin.main.make()
    if main is not None:
        main.config = dict(options.plugin_config)
        main.plugin_runtime_handler = handler
        await main.initialize()
    runners: dict[str, Any] = {}
    for each in plugin.runners:
        runner = each.component.make()
        if sdk.gives_plugin:
            runner.plugin = main
        # A class may say what its file does not.
        each.manifest["config_schema"] = each.manifest["config_schema"] or runner.get_config_schema()
        runner.bind_runtime(
            plugin_runtime_handler=handler,
            plugin_config=dict(options.plugin_config),
            plugin_identity=plugin.identity,
        )
        await runner.initialize()
        runners[each.runner_id] = runner
    return runners
