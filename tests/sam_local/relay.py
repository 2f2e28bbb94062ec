"""A way from the containers to the local stack, which listens on loopback alone.

`sam local --docker-network host` is no such way: sam leaves its containers on the engine's bridge all the
same. So for the while a relay listens on this machine's end of that bridge, and serves nobody but the bridge.
"""

import asyncio
import contextlib
import ipaddress
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from minutero_cli.local.state import HOST

Result = TypeVar("Result")

OF_A_DESKTOP = "host.docker.internal"
"""Where the engine is in a machine of its own, this name leads to our loopback."""


@contextmanager
def relay(address: str, network: str, port: int) -> Iterator[str]:
    """The URL under which containers reach this loopback port."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = _done(loop, _listen(address, network, port))
    try:
        if server is None:
            yield f"http://{OF_A_DESKTOP}:{port}"
        else:
            yield f"http://{address}:{server.sockets[0].getsockname()[1]}"
    finally:
        _done(loop, _end(server))
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _done(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Result]) -> Result:
    return asyncio.run_coroutine_threadsafe(work, loop).result()


async def _listen(address: str, network: str, port: int) -> asyncio.Server | None:
    """None where the address is none of this machine's."""
    served = ipaddress.ip_network(network)

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if ipaddress.ip_address(writer.get_extra_info("peername")[0]) in served:
            with contextlib.suppress(OSError):
                back, forth = await asyncio.open_connection(HOST, port)
                await asyncio.gather(_pass(reader, forth), _pass(back, writer))
        writer.close()

    try:
        return await asyncio.start_server(meet, address, 0)
    except OSError:
        return None


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while some := await reader.read(65_536):
            writer.write(some)
            await writer.drain()
    writer.close()


async def _end(server: asyncio.Server | None) -> None:
    if server is not None:
        server.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
