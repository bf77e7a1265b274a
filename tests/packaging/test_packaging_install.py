"""Wheel and sdist are built, are the same each time, and work where nothing else of ours is.

`make package` runs this: it needs PyPI and a minute or two.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import agent_lsp

ROOT = Path(__file__).parents[2]
EPOCH = "1764460800"
pytestmark = [
    pytest.mark.skipif(not os.environ.get("PACKAGE"), reason="make package runs it"),
    pytest.mark.timeout(600),
]


def ran(*command, **more):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=500, **more)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def copied(folder):
    """The sources as a clone would have them, with times and rights of their own."""
    listed = ran("git", "ls-files", "-co", "--exclude-standard", "--", ".", ":!editors", cwd=ROOT)
    for name in listed.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
            if os.access(ROOT / name, os.X_OK):
                (folder / name).chmod(0o755)
    return folder


def built(folder):
    environ = os.environ | {"SOURCE_DATE_EPOCH": EPOCH}
    ran(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", folder, env=environ)
    return {path.name: path for path in (folder / "dist").iterdir()}


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    first = copied(tmp_path_factory.mktemp("one"))
    second = shutil.copytree(first, tmp_path_factory.mktemp("another-folder") / "of-sources", copy_function=shutil.copy)
    one, other = built(first), built(second)
    assert {name: digest(path) for name, path in one.items()} == {name: digest(path) for name, path in other.items()}
    kept = ROOT / "dist"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(next(iter(one.values())).parent, kept)
    return one


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def wheel(packages):
    return packages[f"agent_lsp-{agent_lsp.__version__}-py3-none-any.whl"]


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The programs of an environment that has the wheel and what it depends on, and nothing else."""
    folder = tmp_path_factory.mktemp("clean")
    ran(sys.executable, "-m", "venv", folder)
    ran(folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    return folder / "bin"


def test_a_build_gives_the_same_bytes_in_another_folder(packages):
    assert len(packages) == 2


def test_the_wheel_has_all_that_runs_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    for needed in (
        "py.typed",
        "__init__.pyi",
        "tools/watchdog.sh",
        "trace/view/assets/page.css",
        "cli/assets/usage.css",
    ):
        assert f"agent_lsp/{needed}" in names
    tops = {name.split("/")[0] for name in names}
    assert tops == {"agent_lsp", f"agent_lsp-{agent_lsp.__version__}.dist-info"}
    sources = {f"agent_lsp/{path.relative_to(ROOT / 'agent_lsp')}" for path in (ROOT / "agent_lsp").rglob("*.py")}
    assert sources <= names


def test_the_sdist_builds_the_very_same_wheel(packages, wheel, tmp_path):
    with tarfile.open(packages[f"agent_lsp-{agent_lsp.__version__}.tar.gz"]) as packed:
        safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # since Python 3.11.4
        packed.extractall(tmp_path, **safe)
    (source,) = tmp_path.iterdir()
    assert (source / "docs" / "index.md").exists() and not (source / "editors").exists()
    environ = os.environ | {"SOURCE_DATE_EPOCH": EPOCH}
    ran(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path / "out", source, env=environ)
    assert digest(tmp_path / "out" / wheel.name) == digest(wheel)


def test_the_program_runs_in_a_clean_environment_with_a_fresh_home(installed, tmp_path):
    environ = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    program = installed / "agent-lsp"
    assert ran(program, "--version", env=environ) == f"agent-lsp {agent_lsp.__version__}\n"
    assert "What changed on disk" in ran(program, "demo", env=environ, stdin=subprocess.DEVNULL)
    assert "Libraries" in ran(program, "doctor", env=environ, cwd=tmp_path)
    assert "agent/run" in json.loads(ran(program, "schema", "protocol", env=environ))["requests"]
    assert "complete -F" in ran(program, "completion", "bash", env=environ)


def test_the_library_and_its_types_are_there_without_any_extra(installed, tmp_path):
    script = (
        "import asyncio\nfrom agent_lsp import Session\n"
        "async def main():\n"
        "    async with Session.open('.', model='rehearsal/rehearsal') as session:\n"
        "        print((await session.run('hi')).status)\n"
        "asyncio.run(main())\n"
    )
    environ = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    assert ran(installed / "python", "-c", script, env=environ, cwd=tmp_path) == "completed\n"


@pytest.mark.parametrize("extra", ["keyring", "otel"])
def test_what_an_extra_brings_is_named_where_it_is_missing(installed, tmp_path, extra):
    environ = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    if extra == "keyring":
        command = [installed / "agent-lsp", "login", "anthropic"]
    else:
        (tmp_path / "c.toml").write_text("[telemetry]\nenabled = true\n")
        command = [installed / "agent-lsp", "run", "hi", "--config", tmp_path / "c.toml"]
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, input="sk-x\n", env=environ, cwd=tmp_path, timeout=60
    )
    assert f"agent-lsp[{extra}]" in done.stdout + done.stderr
