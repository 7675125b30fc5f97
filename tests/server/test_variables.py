"""What is wrong with an environment is found as a whole, and what belongs to other programs is let be."""

from __future__ import annotations

import pytest

from specloom.server import examine_environment
from specloom.server.variables import EnvironmentVerdict
from tests.support.shipped import shipped_model


def examine(**environ: str) -> EnvironmentVerdict:
    model = shipped_model()
    return examine_environment(environ, model.heads, [one.spec for one in model.collections.values()])


def test_an_environment_in_which_nothing_of_ours_is_set_is_well() -> None:
    assert examine(PATH="/bin", HOME="/root", LANG="C.UTF-8") == EnvironmentVerdict((), ())


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("SPECLOOM_MAX_USD_PER_DAY", "ten", "SPECLOOM_MAX_USD_PER_DAY is 'ten'; write a number above 0, or 0 for no"),
        ("SPECLOOM_STATE_MAX_MB", "2GB", "SPECLOOM_STATE_MAX_MB is '2GB'; write a whole number above 0"),
        ("AUDIT_ENABLED", "perhaps", "AUDIT_ENABLED is 'perhaps'; write true or false"),
        ("AUDIT_MAX_BYTES", "much", "AUDIT_MAX_BYTES: 'much' is not"),
        (
            "AUDIT_RETENTION_DAYS",
            "30",
            "AUDIT_RETENTION_DAYS is '30'; write a whole number of 180 to 3650, or 0 for no",
        ),
        ("SESSION_TTL", "long", "SESSION_TTL is 'long'; write a duration such as 4h, 90m or 30d"),
        ("SESSION_MAX_STEPS", "0", "SESSION_MAX_STEPS is '0'; write a whole number above 0"),
        ("BRAVE_RATE", "quick", "BRAVE_RATE: "),
        ("SEARXNG_URL", "searx.example", "SEARXNG_URL should be an http or https URL"),
        ("SPECLOOM_CACHE_KEY", "short", "SPECLOOM_CACHE_KEY"),
        ("SPECLOOM_CACHE_KEY_PREVIOUS", "short", "SPECLOOM_CACHE_KEY_PREVIOUS is not a key"),
    ],
)
def test_a_value_that_cannot_be_read_is_one_sentence(name: str, value: str, sentence: str) -> None:
    found = examine(**{name: value})

    assert len(found.problems) == 1
    assert found.problems[0].startswith(sentence)
    assert "\n" not in found.problems[0]
    assert "short" not in found.problems[0]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("SPECLOOM_MAX_USD_PRE_DAY", "SPECLOOM_MAX_USD_PER_DAY"),
        ("SPECLOOM_MAX_USD_DAY", "SPECLOOM_MAX_USD_PER_DAY"),
        ("RATE_LIMIT_PER_TENENT", "RATE_LIMIT_PER_TENANT"),
        ("DAILY_QOUTA_PER_TENANT", "DAILY_QUOTA_PER_TENANT"),
        ("OAUTH_ISSUER", "OAUTH_ISSUER_URL"),
        ("OAUTH_ISSUER_URI", "OAUTH_ISSUER_URL"),
        ("REDIS_URI", "REDIS_URL"),
        ("ADMIM_PORT", "ADMIN_PORT"),
        ("ENFORCE_SCOPE", "ENFORCE_SCOPES"),
        ("AUDIT_RETENTION_DAY", "AUDIT_RETENTION_DAYS"),
        ("ADMIN_APIKEY", "ADMIN_API_KEY"),
        ("admin_api_key", "ADMIN_API_KEY"),
        ("BRAVE_APIKEY", "BRAVE_API_KEY"),
        ("TAVILLY_API_KEY", "TAVILY_API_KEY"),
        ("SESION_TTL", "SESSION_TTL"),
    ],
)
def test_a_name_that_is_nearly_that_of_a_variable_is_told_with_the_one_that_was_meant(name: str, meant: str) -> None:
    assert examine(**{name: "1"}).problems == (
        f"{name} is no variable of this server; did you mean {meant}? Rename it, or unset it",
    )


@pytest.mark.parametrize(
    "name",
    [
        "XAI_API_KEY",  # near EXA_API_KEY
        "CORP_API_KEY",  # near CORE_API_KEY
        "OPENAI_API_KEY",
        "HOSTNAME",
        "PORTS",
        "HOSTS",
        "HTTP_PROXY",
        "HTTP_TIMEOUT",
        "HTTPS_PROXY",
        "PUBLIC_KEY",
        "DATABASE_URL",
        "REDIS_PASSWORD",
        "REDIS_PORT_6379_TCP_ADDR",
        "ADMIN_SERVICE_PORT",
        "SPECLOOM_SERVICE_HOST",
        "SPECLOOM_SERVICE_PORT_HTTP",
        "SPECLOOM_PORT_8080_TCP_PROTO",
        "RATE_LIMIT_TOOL_WEB_SEARCH",
    ],
)
def test_what_other_programs_read_is_let_be(name: str) -> None:
    assert examine(**{name: "1"}) == EnvironmentVerdict((), ())


def test_an_address_that_kubernetes_gives_for_a_service_is_let_be() -> None:
    assert examine(SPECLOOM_PORT="tcp://10.0.0.1:8080", ADMIM_PORT="udp://10.0.0.1:53") == EnvironmentVerdict((), ())


def test_a_slip_beside_the_variable_itself_is_let_be() -> None:
    assert examine(BRAVE_APIKEY="a", BRAVE_API_KEY="b").problems == ()
    assert examine(BRAVE_APIKEY="").problems == ()


def test_a_name_of_ours_that_is_like_no_other_is_a_notice() -> None:
    assert examine(SPECLOOM_QUIXOTRY="1") == EnvironmentVerdict(
        (), ("SPECLOOM_QUIXOTRY is no variable of this version; nothing reads it",)
    )


def test_all_that_is_wrong_is_told_at_once() -> None:
    found = examine(AUDIT_MAX_BYTES="much", RATE_LIMIT_PER_TENENT="5", SPECLOOM_CACHE="maybe", BRAVE_RATE="quick")

    assert len(found.problems) == 4
