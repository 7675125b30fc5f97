"""The key that seals what is kept: where it comes from, who can read it, and what it refuses to open."""

import base64
import hmac
import os
import pickle
import subprocess
import sys

import pytest

from specloom.core.secrets import (
    KEY_FILE,
    Secret,
    holds_secret,
    keyed_digest,
    load_key,
    redact,
    redact_body,
    seal,
    unseal,
)

KEY = bytes(range(32))
posix_only = pytest.mark.skipif(os.name == "nt", reason="file modes are POSIX")


def test_a_secret_never_prints_itself():
    secret = Secret("hunter2")

    shown = f"{secret} {secret!r} {secret!s} {secret:>5} {[secret]}"

    assert "hunter2" not in shown
    assert secret.reveal() == "hunter2"


BASIC = "c29tZWJvZHk6bG9uZy1wYXNzd29yZA=="


@pytest.mark.parametrize("secret", ["somebody:long-password", f"Basic {BASIC}"])
def test_basic_credentials_are_masked_in_all_their_parts_but_the_name(secret):
    def shown(text):
        return redact(text, [Secret(secret)])

    assert shown("somebody has long-password") == "somebody has •••"
    assert shown(f"the word {BASIC}") == "the word •••"
    inside = shown(base64.b64encode(b"{ somebody:long-password }").decode())
    assert b"password" not in base64.b64decode(inside.replace("•••", "") + "==")


@pytest.mark.parametrize(
    ("secret", "text", "masked"),
    [
        # A word that is a secret stays a word, but where a name says what it is.
        ("apple", "an apple, apple=1, key=apple, password: apple", "an apple, apple=1, key=•••, password: •••"),
        ("2024", "in 2024; token: 2024", "in 2024; token: •••"),
        ("abc", "abc, secret=abc, secret=abcd", "abc, secret=•••, secret=abcd"),
        # What is like no word is masked by itself, and not inside of something longer.
        ("a1b2c", "a1b2c xa1b2c a1b2cd (a1b2c)", "••• xa1b2c a1b2cd (•••)"),
        ("x/y+z", "x/y+z x%2Fy%2Bz", "••• •••"),
        # From eight characters on it is masked wherever it stands.
        ("elephant", "elephants", "•••s"),
        ("Token idname12:word/word", "idname12 and word/word", "••• and •••"),
    ],
)
def test_a_short_secret_masks_no_ordinary_word(secret, text, masked):
    assert redact(text, [Secret(secret)]) == masked
    assert holds_secret(text, [Secret(secret)])


def test_a_text_without_a_secret_is_the_same_object():
    body = b"nothing of it"

    assert redact_body(body, [Secret("long-password"), Secret("a1b2c"), Secret("")]) is body


def test_a_secret_is_not_pickled():
    with pytest.raises(TypeError):
        pickle.dumps(Secret("hunter2"))


@pytest.mark.parametrize(
    "text",
    [
        KEY.hex(),
        KEY.hex().upper(),
        f"  {KEY.hex()}\n",
        base64.b64encode(KEY).decode(),
        base64.b64encode(KEY).decode().rstrip("="),
    ],
)
def test_a_key_from_the_environment_is_hex_or_base64(tmp_path, text):
    assert load_key(tmp_path, {"SPECLOOM_CACHE_KEY": text}) == KEY
    assert not list(tmp_path.iterdir())


def test_base64_may_use_the_alphabet_of_urls(tmp_path):
    key = b"\xff\xfe" * 16

    assert load_key(tmp_path, {"SPECLOOM_CACHE_KEY": base64.urlsafe_b64encode(key).decode()}) == key


@pytest.mark.parametrize(
    "text", ["correct horse battery staple", "ab" * 31, "zz" * 32, base64.b64encode(b"short").decode()]
)
def test_a_bad_key_is_refused_without_being_shown(tmp_path, text):
    with pytest.raises(ValueError, match="64 hex digits") as caught:
        load_key(tmp_path, {"SPECLOOM_CACHE_KEY": text})

    assert text not in str(caught.value)


def test_a_key_is_made_once_and_found_again(tmp_path):
    directory = tmp_path / "new" / "place"

    first = load_key(directory, {})
    second = load_key(directory, {"SPECLOOM_CACHE_KEY": " "})

    assert first == second
    assert len(first) == 32
    assert [path.name for path in directory.iterdir()] == [KEY_FILE]


@posix_only
def test_the_key_file_is_for_its_owner_alone(tmp_path):
    load_key(tmp_path, {})

    assert (tmp_path / KEY_FILE).stat().st_mode & 0o777 == 0o600


@posix_only
def test_a_key_file_that_others_can_read_is_taken_away_from_them(tmp_path):
    key = load_key(tmp_path, {})
    (tmp_path / KEY_FILE).chmod(0o644)

    again = load_key(tmp_path, {})

    assert again == key
    assert (tmp_path / KEY_FILE).stat().st_mode & 0o777 == 0o600


def test_a_damaged_key_file_is_kept_and_named(tmp_path):
    (tmp_path / KEY_FILE).write_text("abc", encoding="ascii")
    (tmp_path / KEY_FILE).chmod(0o600)

    with pytest.raises(ValueError, match=r"cache\.key holds no key"):
        load_key(tmp_path, {})

    assert (tmp_path / KEY_FILE).read_text(encoding="ascii") == "abc"


def test_a_place_that_cannot_hold_a_key_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("", encoding="ascii")

    with pytest.raises(ValueError, match="SPECLOOM_CACHE_KEY"):
        load_key(tmp_path / "file", {})


def test_processes_that_start_at_once_agree_on_the_key(tmp_path):
    code = (
        "import sys; from pathlib import Path; from specloom.core.secrets import load_key; sys.stdin.readline();"
        "print(load_key(Path(sys.argv[1]), {}).hex())"
    )
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]

    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    keys = {process.communicate(timeout=300)[0].strip() for process in started}

    assert len(keys) == 1
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]


def test_what_was_sealed_opens_with_the_same_key_and_context():
    assert unseal(KEY, seal(KEY, b"plain", b"here"), b"here") == b"plain"
    assert unseal(KEY, seal(KEY, b"", b""), b"") == b""


def test_two_seals_of_the_same_text_differ():
    assert seal(KEY, b"plain", b"") != seal(KEY, b"plain", b"")


def test_another_key_or_context_opens_nothing():
    sealed = seal(KEY, b"plain", b"here")

    assert unseal(bytes(32), sealed, b"here") is None
    assert unseal(KEY, sealed, b"there") is None


def test_every_changed_byte_is_noticed():
    sealed = seal(KEY, b"plain", b"here")

    for index in range(len(sealed)):
        changed = bytearray(sealed)
        changed[index] ^= 1
        assert unseal(KEY, bytes(changed), b"here") is None


def test_every_cut_is_noticed():
    sealed = seal(KEY, b"plain", b"here")

    assert all(unseal(KEY, sealed[:length], b"here") is None for length in range(len(sealed)))


def test_a_short_key_is_refused_instead_of_choosing_a_weaker_cipher():
    with pytest.raises(ValueError, match="32 bytes"):
        seal(bytes(16), b"plain", b"")
    with pytest.raises(ValueError, match="32 bytes"):
        unseal(bytes(16), seal(KEY, b"plain", b""), b"")


@pytest.mark.parametrize("length", [0, 1, 32, 64, 65, 200])
def test_a_keyed_digest_is_hmac_sha_256_each_time(length: int) -> None:
    key = bytes(range(length))
    digest = keyed_digest(key)

    for message in (b"", b"a", b"b" * 5000, b"a"):
        assert digest(message) == hmac.digest(key, message, "sha256")
