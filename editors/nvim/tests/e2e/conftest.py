"""A workspace, models, and editors that must end quietly and leave nothing behind."""

import pytest
from _pytest.runner import runtestprotocol
from harness import leftovers
from harness.model import Model
from harness.neovim import Neovim

FLAKY = pytest.StashKey[list]()


# --- a failing test is run once more ---------------------------------------------------------------------------------


def pytest_addoption(parser):
    parser.addoption("--once", action="store_true", help="do not run failing tests again")


def pytest_configure(config):
    config.stash[FLAKY] = []


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """Runs a test again when it fails: what fails twice has failed, what does not is named at the end."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if any(report.failed for report in reports) and not item.config.option.once:
        first = next(report for report in reports if report.failed)
        item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        if not any(report.failed for report in reports):
            item.config.stash[FLAKY].append((item.nodeid, first))
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_terminal_summary(terminalreporter, config):
    for nodeid, report in config.stash[FLAKY]:
        terminalreporter.write_line(f"FLAKY {nodeid}", yellow=True)
        terminalreporter.write_line(report.longreprtext)


# --- what a test works with ------------------------------------------------------------------------------------------

GREETER = '''"""Says hello to people."""


def greeting(name: str) -> str:
    """What to say to somebody."""
    # TODO: greet people without a name as well
    return f"Helo, {name}!"


if __name__ == "__main__":
    print(greeting("Ada"))
'''


@pytest.fixture
def workspace(tmp_path):
    """A small project, in a folder whose name has a blank."""
    folder = tmp_path / "a project"
    folder.mkdir()
    (folder / ".git").mkdir()
    (folder / "greeter.py").write_text(GREETER)
    (folder / "README.md").write_text("# greeter\n\nSays hello to people, in the terminal.\n")
    (folder / "notes.txt").write_text("".join(f"line {number}\n" for number in range(1, 61)))
    return folder


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def config(home):
    """The server's configuration file."""
    return home / "config/agent-lsp/config.toml"


@pytest.fixture
def model(config):
    """A model that follows a script; the server is configured to use it and asks before it changes anything."""
    with Model() as scripted:
        scripted.configure(config, approval_mode="ask")
        yield scripted


@pytest.fixture
def rehearsal(config):
    """The server's own rehearsal model."""
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('default_model = "rehearsal/rehearsal"\ntitles = false\n')


@pytest.fixture
def start(home, workspace):
    """start(init, …) → a Neovim. When the test has passed it must be quiet, end at once and leave nothing."""
    started = []

    def begin(init="", **options):
        place = home / f"nvim-{len(started)}" if started else home
        started.append(Neovim(place, workspace, init, **options))
        return started[-1]

    try:
        yield begin
        for editor in started:
            if editor.process.poll() is None:
                editor.check_is_quiet()
                editor.quit()
            assert not (found := leftovers.left(editor.mark)), f"these are left: {found}"
    finally:
        for editor in started:
            editor.end()


@pytest.fixture
def nvim(start):
    """A Neovim with the plugin on its runtimepath and nothing set."""
    return start()


# --- edits that are made without asking -----------------------------------------------------------------------------

ROWS = "".join(f"row {number}\n" for number in range(1, 101))


@pytest.fixture
def config_mode(model, config):
    """Edits are made without asking."""
    model.configure(config, approval_mode="auto-edit")


@pytest.fixture
def editor(config_mode, start, workspace):
    (workspace / "rows.txt").write_text(ROWS)
    return start("vim.o.signcolumn = 'yes'\n")
