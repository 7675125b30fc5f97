#!/bin/sh
# Make .venv with everything that `make demo` and `make test` need; do nothing when nothing changed.
#
# Written for sh and not for Python, because the first thing that can be missing is Python itself.
# pip is used as it is configured (index, mirror, certificates, constraints); no registry is named here.
set -eu

cd "$(dirname "$0")/.."
venv=.venv
stamp=$venv/.set-up

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# What the environment was made from. The path counts, because an editable install remembers it.
fingerprint() {
    pwd
    cksum pyproject.toml scripts/setup.sh
}

works() {
    # Commands in an environment name the folder it was made in, so one that was moved or copied is made anew.
    [ ! -f "$stamp" ] || [ "$(head -n 1 "$stamp")" = "$(pwd)" ] || return 1
    [ -x "$venv/bin/python" ] && "$venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

if works && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(fingerprint)" ]; then
    exit 0
fi

# A name on the PATH is not enough: a version manager's shim may be there for a Python that is not.
find_python() {
    for name in ${PYTHON:-} python3.13 python3.12 python3.11 python3 python; do
        if command -v "$name" >/dev/null 2>&1 &&
            "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            command -v "$name"
            return 0
        fi
    done
    return 1
}

is_debian_root() {
    [ "$(id -u)" = 0 ] && [ -f /etc/debian_version ] && command -v apt-get >/dev/null 2>&1
}

apt_install() {
    say "installing Debian packages: $*"
    if DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >/dev/null 2>&1; then
        return 0
    fi
    # A fresh machine has no package lists yet.
    apt-get update >/dev/null 2>&1 || say "apt-get update failed; trying with the lists that are there"
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >/dev/null ||
        { say "apt-get could not install $*"; return 1; }
}

can_make_venv() {
    "$1" -c 'import ensurepip, venv' >/dev/null 2>&1
}

make_venv() {
    if [ -n "$python" ] && ! can_make_venv "$python" && is_debian_root; then
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        apt_install "python$version-venv" || apt_install python3-venv || true
    fi
    if [ -n "$python" ] && can_make_venv "$python"; then
        "$python" -m venv --clear "$venv" && return 0
        say "$python -m venv failed; trying what else there is"
    fi
    if command -v uv >/dev/null 2>&1; then
        uv venv --quiet --clear --seed --python "${python:->=3.11}" "$venv" && return 0
        say "uv venv failed"
    fi
    if [ -n "$python" ] && "$python" -m virtualenv --version >/dev/null 2>&1; then
        "$python" -m virtualenv --quiet --clear "$venv" && return 0
    fi
    return 1
}

if ! works; then
    python=$(find_python) || python=
    if [ -z "$python" ] && is_debian_root; then
        apt_install python3 python3-venv || true
        python=$(find_python) || python=
    fi
    if [ -z "$python" ] && ! command -v uv >/dev/null 2>&1; then
        fail "no Python 3.11 or newer was found (looked for python3.13, python3.12, python3.11, python3, python);" \
            "install one, or name it: PYTHON=/path/to/python3 make test"
    fi
    [ -z "$python" ] || say "making $venv with $python"
    make_venv || fail "could not make a virtual environment with ${python:-uv}; on Debian and Ubuntu install" \
        "python3-venv as root (apt-get install python3-venv), elsewhere install Python with its venv module"
fi

say "installing specloom and its tools into $venv (the first time takes a minute or two)"
rm -f "$stamp"
if "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    "$venv/bin/python" -m pip install -qq --disable-pip-version-check --no-input -e '.[dev]' ||
        fail "pip could not install what pyproject.toml asks for; its reason is above. If it found no package:" \
            "check the network, or the index that pip is configured with (pip config list), and run this again"
elif command -v uv >/dev/null 2>&1; then
    uv pip install --quiet --python "$venv/bin/python" -e '.[dev]' ||
        fail "uv could not install what pyproject.toml asks for; its reason is above"
else
    fail "$venv has no pip and there is no uv; remove $venv and run this again"
fi
fingerprint >"$stamp"
say "ready"
