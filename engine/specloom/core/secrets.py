"""Secrets that cannot be printed, texts without the secrets in them, and the key that seals what is kept on disk."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache, lru_cache

from .paths import make_folder, open_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from typing import Any


MASK = "•••"
"""What stands in place of a secret."""
LONGER_THAN_WORDS = 8
"""Characters from which on a secret is masked wherever it stands."""
SHORTEST_ODD = 4
"""Characters from which on a shorter one is masked without a name before it, where it is like no word."""

KEY_VARIABLE = "SPECLOOM_CACHE_KEY"
KEY_FILE = "cache.key"
KEY_BYTES = 32
_FORMAT = b"\x01"
_NONCE_BYTES = 12
_TAG_BYTES = 16


class Secret:
    """A value that prints as `•••` and is only read where it is sent: `reveal()`."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The secret itself, for the transport only."""
        return self._value

    def __repr__(self) -> str:
        return MASK

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(MASK, spec)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(("secret", self._value))

    def __bool__(self) -> bool:
        return bool(self._value)

    def __reduce__(self) -> str:
        raise TypeError("a secret is not serialised")


def redact(text: str, secrets: Iterable[Secret]) -> str:
    """The text with every secret replaced, in all the forms of `redact_body`."""
    body = text.encode("utf-8", "surrogatepass")
    masked = redact_body(body, secrets)
    return text if masked is body else masked.decode("utf-8", "surrogatepass")


def redact_body(body: bytes, secrets: Iterable[Secret], mask: bytes = MASK.encode()) -> bytes:
    """A body in which the upstream gives no secret back, in whole or in part; the same object where it holds none.

    The parts of a secret are what follows a word such as Bearer, what Basic credentials are in the clear, and the
    password of `user:password`. Each is masked as it is, percent-encoded, escaped for JSON or HTML, and in base64.
    A part of fewer than `LONGER_THAN_WORDS` characters could be a word of the text: it is masked where a name such as
    `key=` or `"password":` stands before it, and where it stands by itself and has what words and numbers do not have,
    letters beside digits or a sign such as `/`.
    """
    parts = {part for secret in secrets for part in _parts(secret.reveal())}
    # The longest first, so that a secret which begins with another one leaves no tail behind.
    forms = {form for part in parts if len(part) >= LONGER_THAN_WORDS for form in _forms(part)}
    for form in sorted(forms, key=len, reverse=True):
        if form in body:
            body = body.replace(form, mask)
    for part in sorted((part for part in parts if len(part) < LONGER_THAN_WORDS), key=len, reverse=True):
        if any(form in body for form in _forms(part)):
            body = _pattern_of_short(part).sub(lambda match: (match["name"] or b"") + mask, body)
    return body


def holds_secret(text: str, secrets: Iterable[Secret]) -> bool:
    """Whether a text gives a secret away, as `redact` understands it."""
    return redact(text, secrets) != text


@lru_cache(maxsize=256)
def _parts(value: str) -> frozenset[str]:
    """The credentials that a secret consists of, itself among them."""
    scheme, _, word = value.partition(" ")
    parts = {value}
    if word and " " not in word:
        parts.add(word)
        # Behind another word than Basic the name is an access key, and no less secret.
        parts |= set(word.split(":")) if scheme.lower() != "basic" else set()
    if scheme.lower() == "basic":
        import base64

        with suppress(ValueError):
            parts.add(base64.b64decode(word, validate=True).decode())
    parts |= {password for part in parts for user, _, password in [part.partition(":")] if user}
    return frozenset(parts - {""})


_TEXT_IN_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
"""As `html.escape` does it, whose module has a table of two thousand names with it."""


@lru_cache(maxsize=256)
def _forms(part: str) -> frozenset[bytes]:
    """Everything that a part of a secret may look like in a text, as UTF-8."""
    from urllib.parse import quote, quote_plus

    plain = part.encode("utf-8", "replace")
    quoted = {quote(plain, safe=""), quote(plain), quote_plus(plain)}
    quoted |= {quote(form, safe=safe) for form in quoted for safe in ("", "/")}
    lowered = {re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), form) for form in quoted}
    escaped = {part, *(json.dumps(part, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))}
    escaped |= {form.replace("/", "\\/") for form in escaped}
    in_html = part.translate(_TEXT_IN_HTML)
    escaped |= {in_html, *(in_html.translate({ord('"'): "&quot;", ord("'"): mark}) for mark in ("&#x27;", "&#39;"))}
    written = {form.encode("utf-8", "replace") for form in quoted | lowered | escaped}
    return frozenset(written | _to_base64(plain))


def _to_base64(plain: bytes) -> set[bytes]:
    """What base64 makes of the bytes, by themselves and wherever they stand in something longer."""
    import base64

    forms = {base64.b64encode(plain)}
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + plain)
        # Six bits a character; those that also hold bits of a neighbour are left out.
        forms.add(encoded[-(-before * 8 // 6) : (before + len(plain)) * 8 // 6])
    return forms | {form.translate(bytes.maketrans(b"+/", b"-_")) for form in forms}


@lru_cache(maxsize=256)
def _pattern_of_short(part: str) -> re.Pattern[bytes]:
    forms = b"(?:" + b"|".join(map(re.escape, sorted(_forms(part), key=len, reverse=True))) + b")(?![A-Za-z0-9])"
    named = rf"(?<![\w-])(?P<name>(?i:{_NAMED})[\"']?\s{{0,8}}[=:]\s{{0,8}}[\"']?(?i:bearer\s|basic\s)?)".encode()
    has_both = any(map(str.isalpha, part)) and any(map(str.isdigit, part))
    is_odd = len(part) >= SHORTEST_ODD and (has_both or re.search(r"[^\w.,'’-]", part) is not None)
    return re.compile(named + forms + (b"|(?<![A-Za-z0-9])" + forms if is_odd else b""))


def load_key(directory: Path, environ: Mapping[str, str]) -> bytes:
    """The 32 bytes that seal what is kept: from the environment, else from `cache.key`, made when it is missing.

    Every way to fail is a ValueError whose sentence says what to do and never shows the value.
    """
    text = environ.get(KEY_VARIABLE, "").strip()
    if text:
        key = _parse_key(text)
        if key is None:
            raise ValueError(f"{KEY_VARIABLE} is not a key: give 64 hex digits, or {KEY_BYTES} bytes in base64")
        return key
    path = directory / KEY_FILE
    try:
        if not path.exists():
            _make_key_file(path)
        return _read_key_file(path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ValueError(
            f"the key file {path} cannot be used ({reason}): make it readable or set {KEY_VARIABLE}"
        ) from error


def seal(key: bytes, plaintext: bytes, context: bytes) -> bytes:
    """The plaintext under AES-256-GCM, bound to `context`: it opens only with the same key and the same context."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    _check_key(key)
    # Random nonces are safe for about 2**32 seals under one key, far beyond what a cache writes in its life.
    nonce = os.urandom(_NONCE_BYTES)
    return _FORMAT + nonce + AESGCM(key).encrypt(nonce, plaintext, _FORMAT + context)


def unseal(key: bytes, sealed: bytes, context: bytes) -> bytes | None:
    """What was sealed, or None when a byte was changed, key or context is another, or the input is cut short."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    _check_key(key)
    start = len(_FORMAT) + _NONCE_BYTES
    if len(sealed) < start + _TAG_BYTES or not sealed.startswith(_FORMAT):
        return None
    try:
        return AESGCM(key).decrypt(sealed[len(_FORMAT) : start], sealed[start:], _FORMAT + context)
    except InvalidTag:
        return None


_HASH_BLOCK = 64
"""Bytes of a block of SHA-256, to which HMAC pads its key."""


def keyed_digest(key: bytes) -> Callable[[bytes], bytes]:
    """HMAC-SHA-256 under one key (RFC 2104), whose padded blocks are hashed once and not for each message.

    A short message is digested without a word to other threads: a look into the one-shot function of the library lets
    go of the interpreter, and gets it back when a thread that is at work has had its turn.
    """
    import hashlib

    block = (hashlib.sha256(key).digest() if len(key) > _HASH_BLOCK else key).ljust(_HASH_BLOCK, b"\0")
    inner, outer = (hashlib.sha256(bytes(byte ^ pad for byte in block)) for pad in (0x36, 0x5C))

    def digest(message: bytes) -> bytes:
        first, second = inner.copy(), outer.copy()
        first.update(message)
        second.update(first.digest())
        return second.digest()

    return digest


def _check_key(key: bytes) -> None:
    # A shorter key would silently select a weaker cipher.
    if len(key) != KEY_BYTES:
        raise ValueError(f"a sealing key has {KEY_BYTES} bytes, this one has {len(key)}")


def _parse_key(text: str) -> bytes | None:
    import base64
    import binascii

    # Hex first: 64 hex digits are valid base64 as well, of 48 bytes.
    if len(text) == 2 * KEY_BYTES:
        try:
            return binascii.unhexlify(text)
        except ValueError:
            return None
    try:
        key = base64.b64decode(text.rstrip("=") + "=", altchars=b"-_" if set("-_") & set(text) else None, validate=True)
    except ValueError:
        return None
    return key if len(key) == KEY_BYTES else None


def _make_key_file(path: Path) -> None:
    """Put a new key at `path` unless somebody else does so first; a crash leaves no half-written key."""
    make_folder(path.parent)
    draft = path.with_name(f"{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    text = os.urandom(KEY_BYTES).hex() + "\n"
    try:
        _write_new(draft, text)
        try:
            # A link appears with its whole content and never replaces what is there.
            os.link(draft, path)
        except FileExistsError:
            return
        except OSError:
            with suppress(FileExistsError):
                _write_new(path, text)
    finally:
        draft.unlink(missing_ok=True)


def _write_new(path: Path, text: str) -> None:
    handle = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    with os.fdopen(handle, "wb") as file:
        file.write(text.encode("ascii"))
        file.flush()
        os.fsync(file.fileno())


def _read_key_file(path: Path) -> bytes:
    with path.open("rb") as file:
        if os.name != "nt":
            _keep_private(file.fileno(), path)
        text = file.read(1024)
    key = _parse_key(text.decode("ascii", "replace").strip())
    if key is None:
        raise ValueError(
            f"the key file {path} holds no key ({len(text)} bytes): restore it, or delete it and lose what it sealed"
        )
    return key


def _keep_private(handle: int, path: Path) -> None:
    """Take the file away from everybody but its owner, or refuse it when it is not ours to change."""
    if not os.fstat(handle).st_mode & 0o077:
        return
    try:
        os.fchmod(handle, 0o600)
    except OSError as error:
        raise ValueError(f"others can read the key file {path}: let its owner run chmod 600 on it") from error
    # Some file systems accept the call and change nothing.
    if os.fstat(handle).st_mode & 0o077:
        raise ValueError(
            f"others can read the key file {path} and its file system keeps it so: set {KEY_VARIABLE} instead"
        )


# --- Secrets in texts that are about to be written down, by the forms that secrets have -------------------------------


MOST_CHARACTERS = 2000
"""Characters of one text that are written down."""

_SHORTEST = 16
"""Characters that keys have at least; passwords may be shorter, and are no business of a file."""

_NAMED = (
    r"api[_-]?key|apikey|access[_-]?token|refresh[_-]?token|id[_-]?token|consumer[_-]?secret|client[_-]?secret"
    r"|x-api-key|x-subscription-token|authorization|token|secret|password|passwd|pwd|key|signature|sig"
)


@cache
def _forms_of_keys() -> tuple[tuple[re.Pattern[str], str], ...]:
    """What looks like a secret, each with what stands in its place; compiled when a text is first masked."""
    return (
        # name=value and "name": "value", in addresses, headers and JSON; what names it stays
        (
            re.compile(rf"(?i)(?<![\w-])((?:{_NAMED})[\"']?\s*[=:]\s*[\"']?(?:bearer\s+|basic\s+)?)[^\s\"'&,;}}<>]+"),
            rf"\1{MASK}",
        ),
        (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}"), rf"\1 {MASK}"),
        # user:password@ in an address
        (re.compile(r"(?i)(\b[a-z][a-z0-9+.-]{0,40}://)[^\s/@:]*:[^\s/@]*@"), rf"\1{MASK}@"),
        # A key of 32 bytes in hexadecimal digits, which digests look like as well
        (re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{64}(?![0-9A-Fa-f])"), MASK),
        (_issued(), MASK),
    )


# Forms that issuers of keys document, known by how they begin; then JSON web tokens and private keys
@cache
def _issued() -> re.Pattern[str]:
    return re.compile(
        r"AIza[\w-]{30,}|\bsk-[\w-]{16,}|\bBSA[\w-]{20,}|\bslk_[a-z0-9]{10}_[\w-]{20,}"
        r"|\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,})"
        r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bxox[abeoprs]-[\w-]{10,}|\b[rsp]k_(?:live|test)_\w{10,}"
        r"|\b(?:hf|npm)_[A-Za-z0-9]{20,}|\beyJ[\w-]{8,4000}+\.[\w-]{8,}(?:\.[\w-]*)?"
        r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    )


_TOO_SHORT = re.compile(r"[\w./-]{0,14}")
"""A word that none of the forms can be in: they have more characters, or a sign that is not here."""
_IS_NAMED = re.compile(f"(?i){_NAMED}")


def mask(text: str) -> str:
    """The text without whatever looks like a secret, cut where it is too long."""
    if _TOO_SHORT.fullmatch(text):
        return text
    # Cut late, so that a secret does not hide by standing half behind the cut.
    text = text[: 4 * MOST_CHARACTERS]
    for form, instead in _forms_of_keys():
        text = form.sub(instead, text)
    return text[:MOST_CHARACTERS]


def looks_issued(text: str) -> bool:
    """Whether the text holds a key of a form that an issuer documents, so that it is hardly made up."""
    return _issued().search(text) is not None


def looks_secret(name: str, text: str) -> bool:
    """Whether a text that goes under a name looks like a real secret, and not like a word or a made-up one."""
    if looks_issued(text):
        return True
    last = text.rsplit(maxsplit=1)[-1] if text.strip() else ""
    has_both = any(one.isdigit() for one in last) and any(one.isalpha() for one in last)
    return has_both and len(last) >= _SHORTEST and _IS_NAMED.fullmatch(name) is not None


def mask_values(value: Any) -> Any:
    """JSON data with every text in it masked, and whole what stands under the name of a secret."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {
            str(name): MASK if isinstance(one, str) and _IS_NAMED.fullmatch(str(name)) else mask_values(one)
            for name, one in value.items()
        }
    if isinstance(value, list | tuple):
        return [mask_values(one) for one in value]
    return value if value is None or isinstance(value, bool | int | float) else mask(str(value))
