"""Each start page is gone through as a new user would: fresh home, a clone, Python and make. `make walks` does it.

What was typed, answered and on the screen stays in build/walks.
"""

import os
import subprocess

import pytest

from tests.docs.snippets import ROOT

WALKS = sorted(path for path in (ROOT / "tests" / "docs" / "walks").glob("*.sh") if path.name != "walk.sh")
NOT_INSTALLED = 77
PAGES = {"any_editor": "any-editor"}


def test_every_start_page_has_a_walk():
    walked = {PAGES.get(path.stem, path.stem) for path in WALKS}
    assert walked == {page.stem for page in (ROOT / "docs" / "start").glob("*.md")}


@pytest.mark.skipif(not os.environ.get("WALKS"), reason="make walks runs it")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("walk", WALKS, ids=lambda path: path.stem)
def test_a_new_user_gets_there(walk):
    done = subprocess.run(["bash", str(walk)], capture_output=True, text=True, timeout=890)
    if done.returncode == NOT_INSTALLED:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    log = ROOT / "build" / "walks" / f"{walk.stem}.log"
    assert log.read_text(encoding="utf-8").rstrip().endswith("it works as the page says")
