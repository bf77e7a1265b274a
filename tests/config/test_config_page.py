import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]


def test_the_page_lists_every_setting_as_the_schema_has_it():
    command = [sys.executable, PROJECT / ".ci" / "settings_page.py", "--check"]
    checked = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=50)
    assert (checked.returncode, checked.stderr) == (0, "")
