"""`runnel-langbot PLUGIN_FOLDER --url http://127.0.0.1:8090`: runs the runners of the plugin until a signal ends it."""

import argparse
import asyncio
import logging
import os
import sys
from pathlib import Path

import yaml
from runnel_client import ApiKey
from runnel_client.worker import RefusedWorkerError, until_signal

from .plugin import PluginError, open_plugin
from .sdk import NoSdkError, find_sdk
from .worker import Options, run_plugin

API_KEY_VARIABLE = "RUNNEL_API_KEY"


def main() -> None:
    arguments = _parse()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stderr)
    try:
        sdk = find_sdk()
        config = {} if arguments.plugin_config is None else yaml.safe_load(arguments.plugin_config.read_text())
        plugin = open_plugin(arguments.folder, sdk)
        options = Options(
            # The same for every process that runs this plugin.
            worker_id=arguments.worker_id or plugin.identity.replace("/", "."),
            # An empty variable counts as unset.
            credentials=ApiKey(key) if (key := os.environ.get(API_KEY_VARIABLE)) else None,
            max_concurrent=arguments.max_concurrent,
            plugin_config=config,
        )
        asyncio.run(until_signal(run_plugin(arguments.url, options, plugin, sdk)))
    except (NoSdkError, PluginError, RefusedWorkerError, OSError, ValueError) as error:
        sys.exit(f"runnel-langbot: {error}")


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="runnel-langbot", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of the plugin, with its manifest.yaml")
    parser.add_argument("--url", required=True, help="where the service is, such as http://127.0.0.1:8090")
    parser.add_argument("--worker-id", help="who this worker is; the plugin's author.name by default")
    parser.add_argument("--max-concurrent", type=int, default=10, help="runs at a time; 10 by default")
    parser.add_argument("--plugin-config", type=Path, help="YAML or JSON: what the plugin itself is configured with")
    parser.epilog = f"{API_KEY_VARIABLE} holds the client's key."
    return parser.parse_args()


if __name__ == "__main__":
    main()
