"""Which addresses `http.post` may connect to: the public internet's, and private ones if allowed."""

import socket
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from minutero.errors import PermanentFailure

Address = IPv4Address | IPv6Address

GLOBAL_UNICAST = IPv6Network("2000::/3")
"""https://www.iana.org/assignments/ipv6-address-space/ipv6-address-space.xhtml"""

TRANSLATED = IPv6Network("64:ff9b::/96")
"""IPv4 as it is reached from a subnet that has none (RFC 6052): judged by the address within."""

OF_AWS = IPv6Network("fd00:ec2::/32")
"""The metadata services of AWS over IPv6.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html
"""


def resolve(host: str, port: int, *, private: bool) -> Iterator[str]:
    """The addresses of a host that may be connected to, each to be used as it is: a second look-up of the
    name may give another. Raises OSError for a name that is not known, PermanentFailure for none allowed."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
    allowed = [one for one in addresses if may_connect(one, private=private)]
    if not allowed:
        raise PermanentFailure(
            f"{host} is {', '.join(addresses)}, not on the public internet; "
            "http.post goes there only if the stack's parameter HttpPostInternalAddresses is true, "
            "and to link-local addresses never"
        )
    yield from allowed


def may_connect(text: str, *, private: bool) -> bool:
    """Whether an address may be connected to; with `private`, one of this network and this machine too."""
    address = _meant(ip_address(text))
    if _is_public(address):
        return True
    if address.is_link_local or (address.version == 6 and address in OF_AWS):  # noqa: PLR2004
        # Credentials are given out there, and no receiver of anything lives there.
        return False
    return private and (address.is_private or address.is_loopback)


def _meant(address: Address) -> Address:
    """The IPv4 address within one of IPv6 that stands for it."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in TRANSLATED:
            return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address):
        tunnel = address.sixtofour or address.teredo
        if tunnel is not None or address not in GLOBAL_UNICAST:
            return False
    return address.is_global and not address.is_multicast
