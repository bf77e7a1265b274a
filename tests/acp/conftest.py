"""The agent as a process, for the tests that talk to it over its pipes."""

import os
import subprocess

import pytest

from tests.e2e.launch import AGENT_LSP


@pytest.fixture
def start(tmp_path):
    started = []

    def begin(*arguments):
        environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "SHELL": "/bin/sh"}
        pipe = subprocess.PIPE
        started.append(
            subprocess.Popen(
                [AGENT_LSP, "acp", *arguments], stdin=pipe, stdout=pipe, stderr=pipe, env=environ, cwd=tmp_path
            )
        )
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()
