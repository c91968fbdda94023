"""Wrong tokens of one address have to wait for each other; if too many wait, more are refused."""

import asyncio
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address

WRONG_TOKEN_SECONDS = 1.0  # that a wrong token costs; those of one address wait for each other
WAITING = 4  # wrong tokens of one address that may wait


@dataclass
class _Address:
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0


class WrongTokens:
    """At most one wrong token of an address is answered per second; few wait for it, more are refused."""

    def __init__(self) -> None:
        """No address waits yet."""
        self._addresses: dict[str, _Address] = {}  # only those that wait now

    async def delay(self, host: str) -> bool:
        """Wait until a wrong token of an address may be answered; False at once if too many wait already."""
        key = network_of(host)
        address = self._addresses.setdefault(key, _Address())
        if address.waiting >= WAITING:
            return False
        address.waiting += 1
        try:
            async with address.turn:
                await asyncio.sleep(WRONG_TOKEN_SECONDS)
        finally:
            address.waiting -= 1
            if not address.waiting:
                del self._addresses[key]
        return True


def network_of(host: str) -> str:
    """What counts as one address: itself, or the /64 network of IPv6, which one client has whole."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        return str(int(address) >> 64)
    return host
