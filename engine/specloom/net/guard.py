"""Which URLs and addresses a request may go to: pure checks that refuse everything not publicly reachable."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING, Literal, NamedTuple, NoReturn, cast

from specloom.core import MASK, Fault, dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence


Address = IPv4Address | IPv6Address

_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")

# Never a target, whatever the operator allows: what listens there hands out the machine's own credentials.
_METADATA_ADDRESSES = frozenset(
    map(
        ip_address,
        (
            "169.254.169.254", "169.254.0.23", "169.254.170.2", "169.254.170.23", "100.100.100.200", "192.0.0.192",
            "168.63.129.16", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254",
        ),
    )
)  # fmt: skip


class _Network(NamedTuple):
    """Addresses that are not public: `private` ones may be allowed, and `shift` tells where an IPv4 address lies."""

    network: IPv4Network | IPv6Network
    name: str
    private: bool = False
    shift: int | None = None
    """How far the embedded IPv4 address lies from the right."""
    mask: int = 0
    """Which of its bits are inverted."""


def _networks(*rows: tuple[str, str], private: bool = False) -> tuple[_Network, ...]:
    return tuple(_Network(ip_network(network), name, private) for network, name in rows)


# The first one that holds an address decides: Teredo and IPv4-compatible addresses lie in wider reserved networks.
_NETWORKS = (
    *_networks(
        ("127.0.0.0/8", "loopback"), ("10.0.0.0/8", "private"), ("172.16.0.0/12", "private"),
        ("192.168.0.0/16", "private"), ("169.254.0.0/16", "link-local"), ("100.64.0.0/10", "carrier-grade NAT"),
        ("198.18.0.0/15", "benchmarking"), ("::1/128", "loopback"), ("fc00::/7", "private"),
        ("fe80::/10", "link-local"), ("fec0::/10", "site-local"), ("2001:2::/48", "benchmarking"), private=True,
    ),
    *_networks(
        ("255.255.255.255/32", "broadcast"), ("0.0.0.0/8", "unspecified"), ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "documentation"), ("198.51.100.0/24", "documentation"), ("203.0.113.0/24", "documentation"),
        ("192.88.99.0/24", "6to4 relay"), ("224.0.0.0/4", "multicast"), ("240.0.0.0/4", "reserved"),
        ("::/128", "unspecified"), ("ff00::/8", "multicast"),
    ),
    _Network(IPv6Network("::ffff:0:0/96"), "IPv4-mapped", shift=0),
    _Network(IPv6Network("::ffff:0:0:0/96"), "IPv4-translated", shift=0),
    _Network(IPv6Network("64:ff9b::/96"), "NAT64", shift=0),
    _Network(IPv6Network("2002::/16"), "6to4", shift=80),
    _Network(IPv6Network("2001::/32"), "Teredo", shift=0, mask=0xFFFFFFFF),
    _Network(IPv6Network("::/96"), "IPv4-compatible", shift=0),
    *_networks(
        # Where the IPv4 address lies in it depends on the network, so it is not decoded.
        ("64:ff9b:1::/48", "local NAT64"),
        ("2001::/23", "reserved"), ("2001:db8::/32", "documentation"), ("3fff::/20", "documentation"),
    ),
)  # fmt: skip
# Only 2000::/3 is handed out for global use, so what is not in it is refused without being listed.
_GLOBAL6 = IPv6Network("2000::/3")


def find_objection(address: Address, *, allow_private: bool = False) -> str:
    """Why an address may not be connected to, in the words that follow "is"; empty where it may."""
    if address in _METADATA_ADDRESSES:
        return "a cloud metadata address, which is never asked"
    known = next((network for network in _NETWORKS if address in network.network), None)
    if known is None:
        return "" if address.version == 4 or address in _GLOBAL6 else "a reserved address"
    if known.shift is None:
        return "" if known.private and allow_private else f"a {known.name} address"
    embedded = IPv4Address(((int(address) >> known.shift) ^ known.mask) & 0xFFFFFFFF)
    inner = find_objection(embedded, allow_private=allow_private)
    if allow_private and not inner:
        return ""
    return f"a {known.name} address of {embedded}" + (f", {inner}" if inner else "")


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


Scheme = Literal["http", "https"]

MAX_URL = 8192
PORTS = {"http": 80, "https": 443}

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://)?([^/?#]*)([^?#]*)(\?[^#]*)?(?:#.*)?", re.DOTALL)
_UNSAFE = re.compile("[\x00-\x20\x7f-\xa0\\\\\u1680\u2000-\u200f\u2028-\u202f\u205f-\u2064\u2066-\u206f\u3000\ufeff]")
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_UNENCODED = re.compile(r"[^\x21-\x7e]+")

# Public names of such services are known by their addresses; these only mean something inside a cloud.
_METADATA_LABELS = frozenset({"metadata", "instance-data"})
_METADATA_NAMES = ("kubernetes.default", "kubernetes.default.svc", "cluster.local")
_LOCAL_NAMES = ("localhost", "localdomain", "local", "internal", "home.arpa")
_DEAD_NAMES = ("onion", "invalid")


@dataclass(frozen=True, slots=True)
class ParsedUrl:
    """A URL that may be asked: `host` is lower-case ASCII or a plain IP address, and there is no fragment."""

    scheme: Scheme
    host: str
    port: int
    path: str
    query: str

    @property
    def authority(self) -> str:
        """What the Host header says: the port is left out where it is the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def target(self) -> str:
        """Path and query as they stand in a request line."""
        return f"{self.path}?{self.query}" if self.query else self.path

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def check_url(url: str, *, allow_private: bool = False, allowed_domains: Sequence[str] = ()) -> ParsedUrl:
    """The parts of a URL that may be asked; anything else is a `validation` fault that repeats no secret of it.

    `allow_private` admits private addresses and local names and relaxes nothing else. A name still has to be checked
    with `check_address` for every address it resolves to.
    """
    if len(url) > MAX_URL:
        _refuse(f"The URL is refused: it has {len(url)} characters and {MAX_URL} are allowed.")
    if _UNSAFE.search(url):
        _refuse("The URL is refused: it holds white space, a control character or a backslash; percent-encode it.")
    match = _URL.fullmatch(url)
    if match is None:
        _refuse("The URL is refused: it has no scheme; write it as https://host/path.")
    scheme = match[1].lower()
    if scheme not in PORTS:
        _refuse(f"The URL is refused: only http and https are allowed, not {scheme[:20]}.")
    if not url.startswith("//", len(scheme) + 1):
        _refuse(f"The URL is refused: it has no host; write it as {scheme}://host/path.")
    host, port = _split(match[2], PORTS[scheme])
    host = _check_host(host, allow_private, tuple(allowed_domains))
    return ParsedUrl(cast("Scheme", scheme), host, port, _encode(match[3]) or "/", _encode((match[4] or "")[1:]))


def check_address(ip: str | Address, *, host: str = "", allow_private: bool = False) -> None:
    """Nothing for an address that may be connected to; a `validation` fault naming `host` and the reason for any other.

    Translated addresses (NAT64, 6to4, Teredo, IPv4-mapped) reach another address than the one that was written, so they
    are refused as such; where private addresses are allowed the embedded one decides.
    """
    try:
        address = ip_address(ip.partition("%")[0]) if isinstance(ip, str) else ip
    except ValueError:
        _refuse(f"{host or 'The host'} is refused: what it resolves to is not an IP address.")
    why = find_objection(address, allow_private=allow_private)
    if why:
        name = host or str(address)
        kind = Fault if allow_private or find_objection(address, allow_private=True) else PrivateHost
        _refuse(f"{name} is refused: {'it' if name == str(address) else f'its address {address}'} is {why}.", kind)


def host_matches(host: str, patterns: Sequence[str]) -> bool:
    """Whether a host is one of the patterns: an exact name, or `*.example.org` for every name below it."""
    names = [pattern.lower().rstrip(".") for pattern in patterns]
    return any(host == name or (name.startswith("*.") and host.endswith(name[1:])) for name in names)


def mask_url(url: str) -> str:
    """The URL for logs and messages: no user, no fragment, and every query value replaced."""
    text = _UNSAFE.sub("", url).partition("#")[0]
    base, mark, query = text.partition("?")
    head, slashes, rest = base.partition("://")
    authority, slash, path = rest.partition("/")
    base = head + slashes + authority.rpartition("@")[2] + slash + path if slashes else base
    names = [part.partition("=") for part in query.split("&")] if mark else []
    # A part without "=" may be the secret itself, so it is hidden whole.
    shown = "&".join(f"{name}={MASK}" if equals else MASK for name, equals, _ in names)
    masked = base + mark + shown
    return masked if len(masked) <= 300 else masked[:299] + "…"


class PrivateHost(Fault):
    """A host that is asked only where private addresses are allowed; another one is not asked at all."""


def _refuse(sentence: str, kind: type[Fault] = Fault) -> NoReturn:
    raise kind("validation", sentence)


def _encode(text: str) -> str:
    if text.isascii():
        return text
    try:
        return _UNENCODED.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8")), text)
    except UnicodeEncodeError:
        _refuse("The URL is refused: it holds half of a surrogate pair, which cannot be encoded.")


def _split(authority: str, default: int) -> tuple[str, int]:
    if "@" in authority:
        host = authority.rpartition("@")[2].partition(":")[0]
        shown = host if _LABEL.fullmatch(host.replace(".", "").lower()) else "the host"
        _refuse(f"The URL of {shown} is refused: it carries a user name or a password.")
    if authority.startswith("["):
        host, bracket, rest = authority[1:].partition("]")
        if not bracket or ":" not in host or (rest and not rest.startswith(":")):
            _refuse("The URL is refused: the IPv6 address of its host is not closed or not one.")
        port = rest[1:]
    else:
        host, _, port = authority.partition(":")
    if not host:
        _refuse("The URL is refused: it has no host; write it as https://host/path.")
    if not port:
        return host, default
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and 0 < int(port) < 65536):
        _refuse("The URL is refused: its port is not a number from 1 to 65535.")
    return host, int(port)


@lru_cache(maxsize=1024)
def _check_host(host: str, allow_private: bool, allowed_domains: tuple[str, ...]) -> str:
    address: Address | None = _find_ipv6(host) if ":" in host else None
    if address is None:
        host = _to_ascii(host)
        address = find_ipv4(host)
    if address is not None:
        check_address(address, allow_private=allow_private)
        host = str(address)
    else:
        _check_name(host, allow_private)
    domains = [domain.lower().strip(".").removeprefix("*.") for domain in allowed_domains]
    if domains and not any(host == domain or host.endswith("." + domain) for domain in domains):
        _refuse(f"{host} is refused: it is not among the allowed domains.")
    return host


def _find_ipv6(host: str) -> IPv6Address:
    if "%" in host:
        _refuse("The URL is refused: its IPv6 address has a zone, which only means something on one machine.")
    try:
        return IPv6Address(host)
    except ValueError:
        _refuse("The URL is refused: its host is not an IPv6 address.")


def _to_ascii(host: str) -> str:
    if not host.isascii():
        # Imported here because most hosts are ASCII and the tables are large.
        import idna

        try:
            host = idna.encode(host, uts46=True, transitional=False).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            _refuse("The URL is refused: its host is not a valid international domain name.")
    host = host.lower().removesuffix(".")
    if len(host) > 253 or not all(_LABEL.fullmatch(label) for label in host.split(".")):
        _refuse("The URL is refused: its host is not a valid domain name.")
    return host


def _check_name(host: str, allow_private: bool) -> None:
    labels = host.split(".")
    inside = len(labels) == 1 or labels[-1] in ("internal", "goog")
    if _is_below(host, _METADATA_NAMES) or (inside and _METADATA_LABELS.intersection(labels)):
        _refuse(f"{host} is refused: it names a cloud metadata service, which is never asked.")
    if _is_below(host, _DEAD_NAMES):
        _refuse(f"{host} is refused: names of this kind do not exist in the public DNS.")
    if not allow_private and _is_below(host, _LOCAL_NAMES):
        _refuse(f"{host} is refused: it names a machine of the local network.", PrivateHost)


def _is_below(host: str, names: Sequence[str]) -> bool:
    return any(host == name or host.endswith("." + name) for name in names)
