"""The files of deploy/ and the snippets of the guide agree with the product: variables, commands, paths, hosts."""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from specloom.cli.parser import make_parser
from specloom.http.identity import read_identity_settings
from specloom.http.settings import HttpSettings, read_settings
from specloom.storage import check_redis
from tests.support.redis_server import RedisServer

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
GUIDE = ROOT / "docs" / "guide" / "serve-many.md"
OF_THE_SYSTEM = {"PATH", "HOME", "PYTHONDONTWRITEBYTECODE"}
PUBLIC_PATHS = {"/mcp", "/mcp/", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"}
"""What clients have to reach through a proxy."""
PRIVATE_PATHS = {"/", "/metrics", "/admin/cache", "/dashboard", "/mcp/other", "/health/ready"}

COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
KUBERNETES = list(yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8")))
DOCKERFILE = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
NGINX = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")


def find_instructions(name: str) -> list[str]:
    """What follows each instruction of this name in the Dockerfile, with its lines joined."""
    joined = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.MULTILINE))
    return re.findall(rf"^{name} +(.+)$", joined, re.MULTILINE)


def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=300, **options)


def find_snippets(language: str) -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found
    return found


def read_unit(text: str) -> dict[str, list[str]]:
    """The values of each key of a unit's [Service] part."""
    keys: dict[str, list[str]] = {}
    part = ""
    for line in text.splitlines():
        if line.startswith("["):
            part = line
        elif part == "[Service]" and "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            keys.setdefault(key, []).append(value)
    return keys


def kinds(kind: str) -> dict[str, Any]:
    (found,) = [one for one in KUBERNETES if one["kind"] == kind]
    return found


IMAGE = dict(shlex.split(one)[0].split("=", 1) for line in find_instructions("ENV") for one in shlex.split(line))
POD = kinds("Deployment")["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]
UNIT = read_unit((DEPLOY / "specloom.service").read_text(encoding="utf-8"))
SITE = read_unit(find_snippets("systemd")[0])
ENVIRONMENTS: Mapping[str, Mapping[str, str]] = {
    "image": IMAGE,
    "compose one": {**IMAGE, **COMPOSE["services"]["one"]["environment"]},
    "compose two": {**IMAGE, **COMPOSE["services"]["two"]["environment"]},
    "kubernetes": {**IMAGE, **{one["name"]: one["value"] for one in CONTAINER["env"]}},
    "systemd": dict(one.split("=", 1) for one in [*UNIT["Environment"], *SITE["Environment"]]),
}
IMAGE_COMMAND = ["specloom", *json.loads(find_instructions("CMD")[-1])]
COMMANDS = {
    "image": IMAGE_COMMAND,
    "compose one": ["specloom", *COMPOSE["services"]["one"]["command"]],
    "compose two": ["specloom", *COMPOSE["services"]["two"]["command"]],
    "kubernetes": ["specloom", *CONTAINER["args"]],
    "systemd": shlex.split(UNIT["ExecStart"][0]),
}


def list_known() -> set[str]:
    """Every variable of the reference, which is generated from the engine and the specs and held against them."""
    page = (ROOT / "docs" / "reference" / "configuration.md").read_text(encoding="utf-8")
    return set(re.findall(r"^\| `([A-Z][A-Z0-9_]+)` \|", page, re.MULTILINE))


def find_unknown(names: Iterator[str] | set[str] | Mapping[str, str]) -> list[str]:
    tools = "RATE_LIMIT_TOOL_"
    return sorted(one for one in set(names) - list_known() - OF_THE_SYSTEM if not one.startswith(tools))


def settings_of(name: str) -> HttpSettings:
    """What the server makes of an environment and a command."""
    options = make_parser().parse_args(COMMANDS[name][1:])
    return read_settings(ENVIRONMENTS[name], options.http or "")


# --- Variables and commands -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_variable_that_is_set_is_one_that_the_product_knows(name: str) -> None:
    assert find_unknown(ENVIRONMENTS[name]) == []


def test_a_variable_that_nobody_reads_is_found() -> None:
    assert find_unknown({**ENVIRONMENTS["kubernetes"], "OAUTH_ISSUER": "x"}) == ["OAUTH_ISSUER"]


def test_the_guide_names_no_variable_that_nobody_reads() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    named = set(re.findall(r"\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b", text)) - {"KEYCLOAK_PASSWORD"}
    ours = {name for name in named if not name.startswith("OTEL_")}  # those of OpenTelemetry's own tools

    assert "OAUTH_ISSUER_URL" in ours
    assert find_unknown(ours) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_server_takes_the_command_and_its_environment(name: str) -> None:
    settings = settings_of(name)
    identities = read_identity_settings(ENVIRONMENTS[name])

    assert settings.port == 8080
    assert settings.host == ("127.0.0.1" if name == "systemd" else "0.0.0.0")
    assert identities.issuer == ENVIRONMENTS[name].get("OAUTH_ISSUER_URL", "")


def test_commands_of_the_guide_are_commands_of_the_program() -> None:
    lines = [line.partition("#")[0] for block in find_snippets("sh") for line in block.splitlines()]
    commands = [
        shlex.split(line[line.index("specloom ") :]) for line in lines if re.match(r"([A-Z_]+=\S+ )*specloom ", line)
    ]

    assert len(commands) >= 6
    for command in commands:
        make_parser().parse_args(command[1:])


def test_a_reload_is_offered_only_where_there_is_a_parent_that_takes_it() -> None:
    workers = make_parser().parse_args(COMMANDS["systemd"][1:]).workers

    assert UNIT["ExecReload"] == ["/bin/kill -HUP $MAINPID"]
    assert int(workers) >= 2


# --- Dockerfile -------------------------------------------------------------------------------------------------------


def test_the_image_is_built_from_everything_that_the_wheel_is_made_of() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    copied = {word for line in find_instructions("COPY") if "--from" not in line for word in line.split()[:-1]}
    needed = {one.split("/")[0] for one in [*wheel["packages"], *wheel["force-include"]]}
    needed |= {"pyproject.toml", "hatch_build.py", "README.md", *project["project"]["license-files"]}

    assert [one for one in sorted(copied) if not (ROOT / one).exists()] == []
    assert sorted(needed - copied) == []
    extras = {one for group in re.findall(r"\[([a-z,]+)\]", DOCKERFILE) for one in group.split(",")}
    assert extras <= project["project"]["optional-dependencies"].keys()
    assert {"http", "redis", "documents", "browser"} <= extras


def test_stages_are_made_from_stages_that_are_there_and_every_last_user_is_nobody() -> None:
    stages = [re.fullmatch(r"(\S+) AS (\S+)", one) for one in find_instructions("FROM")]
    names = [one[2] for one in stages if one]
    bases = {one[1] for one in stages if one if ":" not in one[1]}
    sources = set(re.findall(r"--from=(\S+)", DOCKERFILE))

    assert bases | sources <= set(names)
    assert {"server", "browser"} <= set(names)
    assert names[-1] == "server"
    for stage in re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]:
        users = re.findall(r"^USER (.+)$", stage, re.MULTILINE)
        assert not users or users[-1] == "65534:65534"
    assert COMPOSE["services"]["one"]["build"]["target"] in names


def test_all_that_is_written_is_in_the_one_volume() -> None:
    (volume,) = find_instructions("VOLUME")

    for name in ("HOME", "SPECLOOM_STATE_DIR", "SPECLOOM_CACHE_DIR"):
        assert Path(IMAGE[name]).is_relative_to(volume)
    for service in ("one", "two"):
        # A volume of its own, because databases and locks are of one machine.
        assert COMPOSE["services"][service]["volumes"] == [f"{service}:{volume}"]
        assert COMPOSE["services"][service]["read_only"] is True
    mounts = {one["name"]: one["mountPath"] for one in CONTAINER["volumeMounts"]}
    assert mounts["data"] == volume
    assert CONTAINER["securityContext"]["readOnlyRootFilesystem"] is True


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="the image is one of Linux")
def test_the_image_starts_with_nothing_else_and_its_health_check_finds_it(tmp_path: Path) -> None:
    """Its command with its environment, where only the folder of the volume can be found; keys say who may call."""
    home = {"HOME", "SPECLOOM_STATE_DIR", "SPECLOOM_CACHE_DIR"}
    environ = {name: value.replace("/data", str(tmp_path)) if name in home else value for name, value in IMAGE.items()}
    environ |= {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "engine"), "PORT": "0"}
    program = [sys.executable, "-m", "specloom"]
    refused = run([*program, *IMAGE_COMMAND[1:]], env=environ)
    assert run([*program, "keys", "add", "acme"], env=environ).returncode == 0
    check = json.loads(find_instructions("HEALTHCHECK")[0].partition("CMD ")[2])

    with subprocess.Popen([*program, *IMAGE_COMMAND[1:]], env=environ, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            line = server.stderr.readline()
            found = re.search(r"http://0\.0\.0\.0:(\d+)/mcp answers API keys", line)
            assert found, line
            probe = [sys.executable, *check[1:]]
            alive = run(probe, env={**environ, "PORT": found[1]})
            foreign = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=30)
            foreign.request("POST", "/mcp")
            stranger = foreign.getresponse().status
            foreign.close()
        finally:
            server.send_signal(signal.SIGTERM)
            server.communicate(timeout=300)
    dead = run(probe, env={**environ, "PORT": found[1]})

    assert (refused.returncode, "nobody would have to say who they are" in refused.stderr) == (2, True)
    assert (alive.returncode, dead.returncode, server.returncode) == (0, 1, 0)
    assert stranger == 421
    assert {"state", "cache"} <= {path.name for path in tmp_path.iterdir()}


# --- compose.yaml and the realm ---------------------------------------------------------------------------------------


def test_services_name_files_networks_and_services_that_there_are() -> None:
    services = COMPOSE["services"]

    for service in services.values():
        assert set(service["networks"]) <= set(COMPOSE["networks"])
        assert set(service.get("depends_on", {})) <= set(services)
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert (DEPLOY / source).is_file() if source.startswith(".") else source in COMPOSE["volumes"]
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:")
    assert set(re.findall(r"server (\w+):(\d+);", NGINX)) == {("one", "8080"), ("two", "8080")}
    assert services["nginx"]["ports"] == ["127.0.0.1:8080:8080"]


def test_the_realm_makes_tokens_that_the_servers_take_and_has_no_secret() -> None:
    text = (DEPLOY / "realm.json").read_text(encoding="utf-8")
    realm = json.loads(text)
    identities = read_identity_settings(ENVIRONMENTS["compose one"])
    (scope,) = realm["clientScopes"]
    mappers = {one["name"]: one["config"] for one in scope["protocolMappers"]}
    issuer = COMPOSE["services"]["issuer"]

    assert mappers["audience"]["included.custom.audience"] == identities.audience
    assert mappers["tenant"]["claim.name"] == identities.tenant_claim
    assert all(one["publicClient"] and one["defaultClientScopes"] == [scope["name"]] for one in realm["clients"])
    assert identities.issuer == f"{issuer['environment']['KC_HOSTNAME']}/realms/{realm['realm']}"
    assert identities.issuer.startswith(f"http://auth.localhost:{issuer['environment']['KC_HTTP_PORT']}/")
    assert issuer["networks"]["inside"]["aliases"] == ["auth.localhost"]
    profile = realm["components"]["org.keycloak.userprofile.UserProfileProvider"][0]["config"]
    attributes = {one["name"] for one in json.loads(profile["kc.user.profile.config"][0])["attributes"]}
    assert mappers["tenant"]["user.attribute"] in attributes
    assert not re.search(r'"(secret|password|credentials|privateKey|users)"', text)
    assert "${KEYCLOAK_PASSWORD:?" in issuer["environment"]["KC_BOOTSTRAP_ADMIN_PASSWORD"]


def test_both_servers_share_one_redis_with_one_key_that_is_in_no_file() -> None:
    one, two = (COMPOSE["services"][name]["environment"] for name in ("one", "two"))

    assert one == two
    assert one["REDIS_URL"] == "redis://redis:6379/0"
    assert "redis" in COMPOSE["services"]["one"]["depends_on"]
    assert one["SPECLOOM_CACHE_KEY"].startswith("${SPECLOOM_CACHE_KEY:?")


def test_the_redis_of_compose_keeps_what_it_has_acknowledged() -> None:
    program, *options = COMPOSE["services"]["redis"]["command"]
    assert COMPOSE["services"]["one"]["environment"]["SPECLOOM_STATE"] == program.removesuffix("-server")
    assert COMPOSE["services"]["redis"]["volumes"] == ["redis:/data"]

    with RedisServer(*options) as server:
        check_redis(server.settings(), pytest.fail, keeps_state=True)


def test_the_proxy_of_compose_is_believed_and_no_other() -> None:
    (network,) = COMPOSE["networks"]["inside"]["ipam"]["config"]

    assert [str(one) for one in settings_of("compose one").proxies] == [network["subnet"]]


# --- Kubernetes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("probe", ["startupProbe", "livenessProbe", "readinessProbe"])
def test_probes_ask_for_a_path_that_there_is(probe: str) -> None:
    get = CONTAINER[probe]["httpGet"]

    assert get["path"] == ("/health/ready" if probe == "readinessProbe" else "/health/live")
    assert [one["containerPort"] for one in CONTAINER["ports"] if one["name"] == get["port"]] == [8080]


def test_the_pod_is_nobody_with_no_rights_and_names_fit_together() -> None:
    labels = kinds("Deployment")["spec"]["template"]["metadata"]["labels"]
    names = {one["name"] for one in POD["volumes"]}

    assert (POD["securityContext"]["runAsUser"], POD["securityContext"]["runAsNonRoot"]) == (65534, True)
    assert CONTAINER["securityContext"]["allowPrivilegeEscalation"] is False
    assert CONTAINER["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert kinds("Service")["spec"]["selector"] == labels
    assert kinds("NetworkPolicy")["spec"]["podSelector"]["matchLabels"] == labels
    assert {one["name"] for one in CONTAINER["volumeMounts"]} == names
    claims = [one["persistentVolumeClaim"]["claimName"] for one in POD["volumes"] if "persistentVolumeClaim" in one]
    assert claims == [kinds("PersistentVolumeClaim")["metadata"]["name"]]
    keys = Path(next(one["value"] for one in CONTAINER["env"] if one["name"] == "SPECLOOM_API_KEYS"))
    assert next(one for one in CONTAINER["volumeMounts"] if one["mountPath"] == str(keys.parent))["readOnly"] is True
    # One pod alone has the folder of the state.
    assert (kinds("Deployment")["spec"]["replicas"], kinds("Deployment")["spec"]["strategy"]) == (
        1,
        {"type": "Recreate"},
    )


def test_whoever_ends_a_server_waits_longer_than_it_may_take_to_leave() -> None:
    leaving = settings_of("image").shutdown_seconds

    assert POD["terminationGracePeriodSeconds"] > leaving
    assert int(UNIT["TimeoutStopSec"][0].removesuffix("s")) > leaving
    assert int(COMPOSE["services"]["one"]["stop_grace_period"].removesuffix("s")) > leaving


# --- Proxies and systemd ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [NGINX, *find_snippets("nginx")], ids=["compose", "guide"])
def test_nginx_hands_on_what_clients_need_and_nothing_else(text: str) -> None:
    (pattern,) = re.findall(r"location ~ (\S+) \{", text)
    form = settings_of("systemd")

    assert {path for path in PUBLIC_PATHS if not re.search(pattern, path)} == set()
    assert {path for path in PRIVATE_PATHS if re.search(pattern, path)} == set()
    assert "proxy_http_version 1.1;" in text
    assert re.search(r"proxy_set_header Host \$(http_)?host;", text)
    (limit,) = re.findall(r"client_max_body_size (\d+)m;", text)
    assert int(limit) << 20 == form.body_bytes
    # The proxy has to close an idle connection first; it does after a minute.
    assert form.idle_seconds > 60


@pytest.mark.skipif(not shutil.which("nginx"), reason="nginx is not installed (apt-get install nginx)")
@pytest.mark.parametrize("where", ["compose", "guide"])
def test_nginx_takes_its_configuration(where: str, tmp_path: Path) -> None:
    text = NGINX if where == "compose" else find_snippets("nginx")[0]

    whole = try_nginx(text, tmp_path)
    broken = try_nginx(text.replace("proxy_http_version", "proxy_http_vrsion"), tmp_path)

    assert whole.returncode == 0, whole.stderr
    assert (broken.returncode, 'unknown directive "proxy_http_vrsion"' in broken.stderr) == (1, True)


def try_nginx(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What `nginx -t` says, with names, ports and files of this machine."""
    make_certificate(folder)
    text = re.sub(r"/etc/ssl/\S+\.(pem|key);", r"certificate.\1;", text)
    text = re.sub(r"server (one|two):", "server 127.0.0.1:", text)
    # Ports may be taken, and the path of a socket may not be long.
    text = re.sub(r"listen \d+", "listen unix:socket", text.replace("/tmp/", f"{folder}/"))
    if "events {" not in text:
        text = f"pid {folder}/pid; error_log stderr; events {{}} http {{ access_log off; {text} }}"
    (folder / "nginx.conf").write_text(text, encoding="utf-8")
    command = ["nginx", "-t", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    return run(command, cwd=folder)


def make_certificate(folder: Path) -> None:
    """A certificate and its key, for a day."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mcp.example.com")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(days=1), now + timedelta(days=1))
    certificate = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    form, sealing = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "certificate.pem").write_bytes(certificate)
    (folder / "certificate.key").write_bytes(key.private_bytes(serialization.Encoding.PEM, form, sealing))


def test_caddy_hands_on_what_clients_need_to_where_the_server_is() -> None:
    (text,) = find_snippets("caddy")
    (paths,) = re.findall(r"@public path (.+)", text)

    assert set(paths.split()) == PUBLIC_PATHS
    assert re.findall(r"reverse_proxy (\S+)", text) == ["127.0.0.1:8080"]
    assert text.count("{") == text.count("}")


@pytest.mark.skipif(not shutil.which("caddy"), reason="caddy is not installed (apt-get install caddy)")
def test_caddy_takes_its_configuration(tmp_path: Path) -> None:
    (tmp_path / "Caddyfile").write_text(find_snippets("caddy")[0], encoding="utf-8")

    command = ["caddy", "adapt", "--config", str(tmp_path / "Caddyfile"), "--adapter", "caddyfile"]
    assert run(command).returncode == 0


def test_the_unit_writes_where_it_may() -> None:
    assert (
        Path(dict(one.split("=", 1) for one in UNIT["Environment"])["SPECLOOM_STATE_DIR"]).name
        == UNIT["StateDirectory"][0]
    )
    assert Path(ENVIRONMENTS["systemd"]["SPECLOOM_CACHE_DIR"]).name == UNIT["CacheDirectory"][0]
    assert UNIT["ProtectSystem"] == ["strict"]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed (apt-get install systemd)")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    text = (DEPLOY / "specloom.service").read_text(encoding="utf-8")
    text = text.replace("ExecStart=/opt/specloom/bin/specloom", f"ExecStart={sys.executable}")

    assert verify(text, tmp_path) == ""
    assert "ProtectSytem" in verify(text.replace("ProtectSystem", "ProtectSytem"), tmp_path)


def verify(text: str, folder: Path) -> str:
    """What `systemd-analyze verify` says about a unit; what it says about others of this machine is left out."""
    (folder / "specloom.service").write_text(text, encoding="utf-8")
    command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(folder / "specloom.service")]
    said = run(command).stderr
    return "".join(line for line in said.splitlines(keepends=True) if "specloom.service" in line)
