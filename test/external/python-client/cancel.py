"""Cancels a wait in the step in which its answer arrives, and says whether the cancellation was kept."""

import asyncio

from runnel_client.within import within


async def main() -> None:
    answer = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(within(5, answer))
    await asyncio.sleep(0)
    answer.set_result("an answer")
    task.cancel()
    await asyncio.wait({task})
    print("cancelled" if task.cancelled() else "dropped")


asyncio.run(main())
