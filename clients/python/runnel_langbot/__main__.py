"""`runnel-langbot PLUGIN_FOLDER --url http://127.0.0.1:8090`: runs the runners of the plugin until a signal ends it."""

import argparse
import asyncio
import logging
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import grpc
import yaml

from .plugin import Plugin, PluginError, open_plugin
from .sdk import NoSdkError, Sdk, find_sdk
from .worker import Options, RefusedWorkerError, Worker

API_KEY_VARIABLE = "RUNNEL_API_KEY"
# Contexts and answers of models may be larger than what gRPC takes by itself.
RECEIVE_BYTES_MAX = 16 * 1_048_576


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
            api_key=os.environ.get(API_KEY_VARIABLE) or None,
            max_concurrent=arguments.max_concurrent,
            plugin_config=config,
        )
        asyncio.run(_work(arguments.url, options, plugin, sdk))
    except (NoSdkError, PluginError, RefusedWorkerError, OSError) as error:
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


async def _work(url: str, options: Options, plugin: Plugin, sdk: Sdk) -> None:
    async with _open_channel(url) as channel:
        working = asyncio.create_task(Worker(channel, options, plugin, sdk).run())
        loop = asyncio.get_running_loop()
        for each in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(each, working.cancel)
        with suppress(asyncio.CancelledError):
            await working


def _open_channel(url: str) -> grpc.aio.Channel:
    parts = urlsplit(url)
    options = (("grpc.max_receive_message_length", RECEIVE_BYTES_MAX),)
    if parts.scheme == "https":
        return grpc.aio.secure_channel(parts.netloc, grpc.ssl_channel_credentials(), options)
    if parts.scheme != "http" or parts.netloc == "":
        raise OSError(f"{url} is no URL of a service: http://host:port or https://host:port")
    return grpc.aio.insecure_channel(parts.netloc, options)


if __name__ == "__main__":
    main()
