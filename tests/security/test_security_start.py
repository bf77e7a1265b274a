"""A folder that the agent works in has no part in how its programs are started."""

import subprocess

import pytest

from agent_lsp.cli.conversation import SERVER

GREETING = b'Content-Length: 44\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"shutdown"}'
PLANTED = "import sys, pathlib\npathlib.Path('planted').touch()\nsys.exit('planted')\n"


@pytest.mark.parametrize("name", ["json", "tomllib", "agent_lsp", "pydantic"])
def test_a_module_that_lies_in_the_folder_is_not_imported(tmp_path, name):
    (tmp_path / f"{name}.py").write_text(PLANTED)

    subprocess.run(SERVER, cwd=tmp_path, input=GREETING, capture_output=True, timeout=30, check=False)

    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.py"]
