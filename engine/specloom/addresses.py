"""Which IP addresses are publicly reachable, and which numbers in a host name are an address in disguise."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from .faults import Fault

Address = IPv4Address | IPv6Address

_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")

# Never a target, whatever the operator allows: what listens there hands out the machine's own credentials.
_METADATA_ADDRESSES = frozenset(
    ip_address(text)
    for text in (
        "169.254.169.254",
        "169.254.0.23",
        "169.254.170.2",
        "169.254.170.23",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
    )
)
_PRIVATE4 = tuple(
    (IPv4Network(network), why)
    for network, why in (
        ("127.0.0.0/8", "loopback"),
        ("10.0.0.0/8", "private"),
        ("172.16.0.0/12", "private"),
        ("192.168.0.0/16", "private"),
        ("169.254.0.0/16", "link-local"),
        ("100.64.0.0/10", "carrier-grade NAT"),
        ("198.18.0.0/15", "benchmarking"),
    )
)
_CLOSED4 = tuple(
    (IPv4Network(network), why)
    for network, why in (
        ("255.255.255.255/32", "broadcast"),
        ("0.0.0.0/8", "unspecified"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "documentation"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("192.88.99.0/24", "6to4 relay"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_PRIVATE6 = tuple(
    (IPv6Network(network), why)
    for network, why in (
        ("::1/128", "loopback"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("2001:2::/48", "benchmarking"),
    )
)
# Only 2000::/3 is handed out for global use, so what is not in it is refused without being listed.
_GLOBAL6 = IPv6Network("2000::/3")
_CLOSED6 = tuple(
    (IPv6Network(network), why)
    for network, why in (
        ("::/128", "unspecified"),
        ("ff00::/8", "multicast"),
        # Where the IPv4 address lies in it depends on the network, so it is not decoded.
        ("64:ff9b:1::/48", "local NAT64"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "documentation"),
        ("3fff::/20", "documentation"),
    )
)
# Prefix, how far the embedded IPv4 address lies from the right, and whether its bits are inverted.
_EMBEDDED = tuple(
    (IPv6Network(network), shift, inverted, why)
    for network, shift, inverted, why in (
        ("::ffff:0:0/96", 0, False, "IPv4-mapped"),
        ("::ffff:0:0:0/96", 0, False, "IPv4-translated"),
        ("64:ff9b::/96", 0, False, "NAT64"),
        ("2002::/16", 80, False, "6to4"),
        ("2001::/32", 0, True, "Teredo"),
        ("::/96", 0, False, "IPv4-compatible"),
    )
)


def find_objection(address: Address, *, allow_private: bool = False) -> str:
    """Why an address may not be connected to, in the words that follow "is"; empty where it may."""
    if address in _METADATA_ADDRESSES:
        return "a cloud metadata address, which is never asked"
    if isinstance(address, IPv4Address):
        for network, why in _PRIVATE4:
            if address in network:
                return "" if allow_private else f"a {why} address"
        return next((f"a {why} address" for network, why in _CLOSED4 if address in network), "")
    for network6, why in _PRIVATE6:
        if address in network6:
            return "" if allow_private else f"a {why} address"
    for network6, why in _CLOSED6[:2]:
        if address in network6:
            return f"a {why} address"
    for network6, shift, inverted, why in _EMBEDDED:
        if address in network6:
            embedded = IPv4Address(((int(address) >> shift) ^ (0xFFFFFFFF if inverted else 0)) & 0xFFFFFFFF)
            inner = find_objection(embedded, allow_private=allow_private)
            if allow_private and not inner:
                return ""
            return f"a {why} address of {embedded}" + (f", {inner}" if inner else "")
    for network6, why in _CLOSED6:
        if address in network6:
            return f"a {why} address"
    return "" if address in _GLOBAL6 else "a reserved address"


def find_ipv4(host: str) -> IPv4Address | None:
    """The address that `inet_aton` makes of 1 to 4 decimal, octal or hexadecimal numbers; none for a name."""
    parts = host.split(".")
    if not _NUMBER.fullmatch(parts[-1]):
        return None
    try:
        numbers = [_to_number(part) for part in parts]
    except ValueError:
        numbers = []
    if (
        not 1 <= len(numbers) <= 4
        or any(number > 255 for number in numbers[:-1])
        or numbers[-1] >= 256 ** (5 - len(parts))
    ):
        raise Fault("validation", "The URL is refused: its host ends in a number but is not an IPv4 address.")
    value = numbers[-1]
    for place, number in enumerate(numbers[:-1]):
        value += number << (24 - 8 * place)
    return IPv4Address(value)


def _to_number(text: str) -> int:
    if not _NUMBER.fullmatch(text) or len(text) > 24:
        raise ValueError(text)
    if text.startswith("0x"):
        return int(text[2:] or "0", 16)
    return int(text, 8 if len(text) > 1 and text.startswith("0") else 10)
