#!/usr/bin/env bash
# start/client.md: the client of the page, copied out of it, with nothing but Python.
. "$(dirname "$0")/walk.sh"
install_it
get_a_project
"$python" - "$checkout/docs/start/client.md" >client.py <<'PY'
import pathlib, re, sys
print(re.search(r"^```python\n(.*?)^```$", pathlib.Path(sys.argv[1]).read_text(), re.M | re.S)[1], end="")
PY
follow start/client.md
try "printf 'y\\n' | python3 client.py 'fix the greeting in greeter.py'"
try "grep Hello greeter.py"
well
