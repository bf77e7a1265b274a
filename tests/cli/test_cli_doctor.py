"""What doctor looks at is what a server with the same arguments would have."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from agent_lsp.cli import main
from agent_lsp.config.builtin import KEY_VARIABLES


@pytest.fixture(autouse=True)
def kept(monkeypatch, tmp_path):
    for name in (name for names in KEY_VARIABLES.values() for name in names):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("AGENT_LSP_DATA_DIR", raising=False)
    kept = {}
    ring = SimpleNamespace(__spec__=SimpleNamespace(), get_password=lambda service, name: kept.get(name))
    monkeypatch.setitem(sys.modules, "keyring", ring)
    return kept


def told(capsys, *argv):
    status = main(["doctor", *argv])
    return status, capsys.readouterr().out


def test_the_file_and_the_data_directory_that_are_named_are_looked_at(tmp_path, capsys):
    file, data = tmp_path / "mine.toml", tmp_path / "elsewhere"
    file.write_text("max_turns = 7\n")
    status, text = told(capsys, "--config", str(file), "--data-dir", str(data), "--workspace", str(tmp_path))
    assert status == 0
    assert "~/elsewhere" in text
    assert any(line.split() == ["max_turns", "7", "~/mine.toml"] for line in text.splitlines())


def test_whose_home_it_is_is_not_told(tmp_path, capsys):
    _, text = told(capsys, "--workspace", str(tmp_path / "secret-project"))
    assert str(tmp_path) not in text and "~/secret-project" in text


def test_a_proxy_is_told_without_its_password_and_a_root_that_is_not_there_is_said(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://me:PLANTED@proxy.example:3128")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone.pem"))
    _, text = told(capsys, "--workspace", str(tmp_path))
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert "HTTPS_PROXY proxy.example:3128, with a login" in lines
    assert "SSL_CERT_FILE ~/gone.pem cannot be read" in lines
    assert "PLANTED" not in text


def test_without_a_model_it_says_how_to_have_one(tmp_path, capsys):
    _, text = told(capsys, "--workspace", str(tmp_path))
    assert "none is configured" in text and "agent-lsp login PROVIDER" in text


def test_the_model_is_tried_only_when_asked_to(tmp_path, capsys):
    file = tmp_path / "mine.toml"
    file.write_text(
        'default_model = "near/m"\n[providers.near]\napi = "openai-chat"\nbase_url = "http://127.0.0.1:9/v1"\n'
    )
    where = ("--config", str(file), "--workspace", str(tmp_path), "--data-dir", str(tmp_path / "data"))
    _, text = told(capsys, *where)
    assert "near/m" in text and "doctor --test" in text
    status, text = told(capsys, *where, "--test")
    assert status == 0 and "✗ cannot connect: nothing answers at 127.0.0.1:9: start the model server" in text


def test_the_report_is_complete(tmp_path, capsys):
    _, text = told(capsys, "--workspace", str(tmp_path))
    titles = [line for line in text.splitlines() if line and not line.startswith(" ")]
    for title in ("Installation", "Places", "Programs", "Credentials", "Built in", "Protection", "Libraries", "Model"):
        assert title in titles
    assert {"Sandbox", "Traces"} <= set(titles)
    assert titles[-1] == "Model"  # it is what most come for, and the end is on the screen


def test_the_trust_that_counts_is_that_kept_in_the_data_directory(tmp_path, capsys, monkeypatch):
    data = tmp_path / "elsewhere"
    monkeypatch.setenv("AGENT_LSP_DATA_DIR", str(data))
    assert main(["trust", str(tmp_path)]) == 0
    monkeypatch.delenv("AGENT_LSP_DATA_DIR")
    assert "not trusted" in told(capsys, "--workspace", str(tmp_path))[1]
    assert "not trusted" not in told(capsys, "--workspace", str(tmp_path), "--data-dir", str(data))[1]


def test_a_key_in_the_keyring_counts_as_one_and_is_not_shown(tmp_path, capsys, kept):
    file = tmp_path / "mine.toml"
    file.write_text('[providers.far]\napi = "openai-chat"\nbase_url = "https://far.example/v1"\napi_key_env = "FAR"\n')
    kept |= {"groq": "sk-kept-in-the-ring", "far": "sk-kept-in-the-ring"}
    _, text = told(capsys, "--config", str(file), "--workspace", str(tmp_path))
    lines = [line.split() for line in text.splitlines()]
    assert ["groq", "keyring", "found"] in lines
    assert ["far", "keyring", "found"] in lines
    assert not any("GROQ_API_KEY" in line or "FAR" in line for line in lines)
    assert "sk-kept" not in text


def test_a_file_that_is_no_toml_is_told_once(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("one two\n")
    command = [sys.executable, "-m", "agent_lsp", "run", "hi", "--config", str(file), "--workspace", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50)
    assert done.returncode and done.stderr.count("Expected '='") == 1 and done.stderr.count(str(file)) == 1


def test_settings_that_do_not_fit_are_told_and_nothing_more_is_asked(tmp_path, capsys, kept):
    file = tmp_path / "mine.toml"
    file.write_text("providers = 7\n")
    status, text = told(capsys, "--config", str(file), "--workspace", str(tmp_path))
    assert status == 1
    assert "providers" in text
