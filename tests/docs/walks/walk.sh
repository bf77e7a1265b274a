# A new user's machine, for the scripts beside this one: a fresh home, a copy of the checkout, the system's programs and
# nothing of anybody's. What is typed and what is answered goes to the log, build/walks/PAGE.log.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
checkout=$(cd "$here/../../.." && pwd)
name=$(basename "$0" .sh)

if [ -z "${WALKING:-}" ]; then # begin again with an empty environment, but for the way to the package index
  machine=$(mktemp -d "${TMPDIR:-/tmp}/walk.$name.XXXXXX")
  trap 'chmod -R u+w "$machine" 2>/dev/null; rm -rf "$machine"' EXIT
  mkdir -p "$machine/home" "$checkout/build/walks"
  kept=$(env | grep -E '^(PIP_|NPM_CONFIG_|npm_config_|NODE_EXTRA_CA_CERTS|SSL_CERT_|https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY)' || true)
  mapfile -t kept <<<"$kept"
  env -i "${kept[@]:-_=}" PIP_CACHE_DIR="$checkout/build/walks/.pip" WALKING=1 HOME="$machine/home" MACHINE="$machine" LANG=C.UTF-8 \
    PATH="$machine/home/.local/bin:/usr/local/bin:/usr/bin:/bin" bash "$0" 2>&1 | tee "$checkout/build/walks/$name.log"
  exit "${PIPESTATUS[0]}"
fi

python=$(command -v python3)

get_the_checkout() { # as a clone would have it
  mkdir "$MACHINE/agent-lsp"
  (cd "$checkout" && git ls-files -z -co --exclude-standard | while IFS= read -r -d '' one; do
    [ ! -f "$one" ] || printf '%s\0' "$one"; done | tar --null -cf - -T -) | tar -C "$MACHINE/agent-lsp" -xf -
  cd "$MACHINE/agent-lsp"
}

get_a_project() {
  mkdir -p "$MACHINE/greeter"
  cd "$MACHINE/greeter"
  printf 'def greeting(name):\n    # TODO: greet people without a name as well\n    return f"Helo, {name}!"\n' >greeter.py
}

try() { # what a user types
  echo "\$ $*"
  eval "$*" </dev/null
}

follow() { # follow PAGE [FROM] [TO]: types the shell snippets of a page, all or by number
  while IFS= read -r line <&3; do try "$line"; done 3< <("$python" "$here/steps.py" "$checkout/docs/$1" "${2:-1}" "${3:-99}")
}

install_it() { # as start/install.md says, up to where it is on the PATH
  get_the_checkout
  follow start/install.md 1 2
}

well() { echo "== $name: it works as the page says"; }
