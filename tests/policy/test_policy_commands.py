from __future__ import annotations

import base64
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.policy.commands import CommandPolicy
from agent_lsp.policy.simple_line import simple_words

HOME = Path("/home/ann")
CWD = Path("/home/ann/src/project")
POLICY = CommandPolicy(homes=(HOME,), variables={"HOME": "/home/ann", "TMP": "/tmp/x", "DIR": "build"})


def packed(script):
    return base64.b64encode(script.encode()).decode()


RUINOUS = [
    "rm -rf ~",
    "rm -r -f ~/",
    "rm -fr /",
    "rm -Rf /*",
    "rm -rf -- ~",
    "rm --recursive --force ~",
    "rm --rec --fo ~",
    "rm -rf ~/*",
    "rm -rf ~/.*",
    "rm -rf ~/{*,.*}",
    "rm -rf ~/.[!.]* ~/*",
    "rm -rf ~/./",
    "rm -rf ~//",
    "rm -rf ~/src/..",
    "rm -rf ~ann",
    "rm -rf /home",
    "rm -rf /home/*",
    "rm -rf /h*me/ann",
    "rm -rf /home/a?n",
    "rm -rf /etc /usr",
    "rm -rf ../..",
    "rm -rf build ../../",
    "rm -rf $HOME",
    'rm -rf "$HOME"',
    'rm -rf "${HOME}"/*',
    "rm -rf ${HOME%/}",
    "rm -rf ${HOME:?}/*",
    "rm -rf ${NOT_SET}/*",
    'rm -rf "$NOT_SET/"',
    "rm -rf ${NOT_SET:-/}",
    "rm -rf ${NOT_SET:-$HOME}",
    "r''m -rf ~",
    '"rm" -rf ~/*',
    "r\\m -rf ~",
    "\\rm -rf ~",
    "$'rm' -rf ~",
    "$'\\x72m' -rf ~",
    'rm "-rf" ~',
    "rm${IFS}-rf${IFS}/home/ann",
    "X=~; rm -rf $X",
    "X='-rf /'; rm $X",
    "X=rm; $X -rf ~",
    'a=(x ~); rm -rf "${a[@]}"',
    "export D=/; rm -rf $D",
    "for d in build ~; do rm -rf $d; done",
    "{rm,-rf,~}",
    "$(echo rm) -rf ~",
    "rm -rf $(echo ~)",
    "rm -rf `echo /`",
    "`echo rm` -rf /",
    "cd ~ && rm -rf *",
    "cd && rm -rf .",
    "cd /; rm -rf ./*",
    "pushd / && rm -rf .",
    "cd ../.. && rm -rf ./.",
    "cd ~\nrm -rf *",
    "sudo rm -fr ~",
    "sudo -u root -- rm -fr ~",
    "doas rm -rf /",
    "env A=1 rm -rf ~",
    "env -i A=1 B=2 rm -rf ~",
    "env -u X rm -rf ~",
    "env -S 'rm -rf ~'",
    "A=1 rm -rf ~",
    "nice -n 5 rm -rf ~",
    "nohup rm -rf ~ &",
    "timeout 5 rm -rf ~",
    "timeout -s KILL 5s rm -rf ~",
    "time rm -rf ~",
    "command rm -rf ~",
    "exec rm -rf ~",
    "busybox rm -rf ~",
    "setsid ionice -c 3 nice rm -rf ~",
    "sudo env nice sh -c 'exec rm -rf ~'",
    "sh -c 'rm -rf ~'",
    'bash -lc "rm -rf ~"',
    "bash -o pipefail -ec 'cd /; rm -rf *'",
    "sh -c \"sh -c 'rm -rf ~'\"",
    "eval rm -rf ~",
    "eval 'rm -rf ' ~",
    "trap 'rm -rf ~' EXIT",
    "su -c 'rm -rf /'",
    "watch 'rm -rf ~'",
    "echo ~ | xargs rm -rf",
    "printf '%s\\n' / | xargs -n 1 rm -rf",
    "echo 'rm -rf ~' | sh",
    "echo 'rm -rf ~' | cat | bash -s",
    f"echo {packed('rm -rf ~')} | base64 -d | sh",
    f"base64 -d <<< {packed('rm -rf /')} | bash",
    "echo '~ fr- mr' | rev | sh",
    "bash <<< 'rm -rf ~'",
    "bash <<EOF\nrm -rf ~\nEOF",
    "bash <<'EOF' | cat\nrm -rf /\nEOF",
    "bash <(echo rm -rf /)",
    "source /dev/stdin <<< 'rm -rf ~'",
    "find ~ -delete",
    "find / -type f -delete",
    "find ~ -exec rm -rf {} +",
    "find ~ -maxdepth 0 -exec rm -rf '{}' ';'",
    "true; /bin/rm -rf ~",
    "true && /usr/bin/rm -rf ~",
    "false || rm -rf ~",
    "(rm -rf ~)",
    "{ rm -rf ~; }",
    "! rm -rf ~",
    "if true; then rm -rf ~; fi",
    "while :; do rm -rf ~; done",
    "case x in x) rm -rf ~;; esac",
    "f() { rm -rf ~; }; f",
    'echo "$(rm -rf ~)"',
    "echo ${X:-$(rm -rf ~)}",
    "cat <(rm -rf ~)",
    "cat <<EOF\n$(rm -rf ~)\nEOF",
    "[[ -n $(rm -rf ~) ]]",
    "rm -rf ~ )",
    "rm -rf '~' ~",
    "git -c alias.x='!rm -rf ~' x",
    "mkfs.ext4 /dev/no-such-disk",
    "sudo /sbin/mkfs -t ext4 disk.img",
    "'mkfs'.xfs /dev/sdb",
    "dd if=/dev/zero of=/dev/sda",
    "dd of=//dev/../dev/nvme0n1 if=x",
    "sudo dd if=x of='/dev/mapper/root'",
    "echo x > /dev/sda",
    "cat x >/dev/nvme0n1",
    "cat x >| '/dev/sda'",
    "cat x &> /dev/mmcblk0",
    ">/dev/vda",
    "cat <<EOF > /dev/sda\nx\nEOF",
    "cat x | sudo tee /dev/sda",
    "cp x /dev/sda",
    "shred -n 1 /dev/sda",
    "D=/dev/sda; echo > $D",
    ":(){ :|:& };:",
    "bomb() { bomb | bomb & }; bomb",
    "function f { f & f; }; f",
    "rd /s /q C:\\",
    "rmdir /S /Q %USERPROFILE%",
    "del /f /s /q C:\\*.*",
    'cmd /c "rd /s /q c:\\"',
    "r^d /s /q C:\\",
    "format c: /q",
    "Remove-Item -Recurse -Force ~",
    "Remove-Item -Path C:\\ -Recurse -Force",
    "ri -r -fo $HOME",
    "rm -Recurse $env:USERPROFILE",
    'powershell -Command "Remove-Item -Recurse -Force C:\\"',
    f"powershell -enc {base64.b64encode('rd /s /q C:'.encode('utf-16-le')).decode()}",
    "Clear-Disk -Number 0",
    "%0|%0",
]

ORDINARY = [
    "",
    "   ",
    "ls -la",
    "rm -rf build && echo fine",
    "rm -rf ./build",
    "rm -rf *",
    "rm -rf ./*.o dist",
    "rm -rf node_modules && npm ci",
    "rm -rf $DIR/*",
    'rm -rf "$TMP"',
    "rm -rf /tmp/build-*",
    "rm -rf /usr/local/lib/node_modules/x",
    "rm -rf /var/lib/apt/lists/*",
    "rm -rf ~/.cache/pip",
    "rm -rf ~/src/project/build",
    "rm -rf ~/src/project/*.log",
    "rm -f ~/x",
    "rm ~/x.txt",
    "cd /tmp/x && rm -rf *",
    "(cd /; ls); rm -rf *",
    "mkdir -p a && cd a && rm -rf ./*",
    "source env.sh; rm -rf $ROOT/*",
    "D=$(mktemp -d); rm -rf $D/*",
    "git commit -m 'rm -rf ~ is bad'",
    "echo 'rm -rf /'",
    "grep -rn 'rm -rf /' .",
    "echo rm -rf ~",
    "find . -name '*.pyc' -delete",
    "find . -type d -name x -exec rm -rf {} +",
    "find . -name '*.c' | xargs rm -f",
    "echo build | xargs rm -rf",
    "echo x > /dev/null 2>&1",
    "cat /dev/sda1 > x",
    "dd if=/dev/zero of=disk.img bs=1M count=1",
    "dd if=/dev/sda of=/dev/null",
    "exec 3<>/dev/tcp/localhost/80",
    "echo x | tee out.txt >/dev/stderr",
    "format_code c: ; npm run format",
    "cargo fmt && terraform fmt",
    "git rm -r build",
    "docker run --rm -it x sh -c 'ls /'",
    "f() { echo x | cat & }; f",
    "retry() { ls || retry; }; retry",
    "for f in *.py; do echo $f; done",
    "python - <<'EOF'\nprint('rm -rf ~')\nEOF",
    "cat <<'EOF' > notes.md\nrm -rf ~\nEOF",
    "Remove-Item -Recurse -Force .\\build",
    "rd /s /q build",
    "del /q C:\\temp\\x.txt",
    "((((((((((echo",
    "'unclosed",
    "if then fi (",
]


@pytest.mark.parametrize("line", RUINOUS)
def test_what_ruins_a_machine_is_forbidden_however_it_is_spelled(line):
    assert POLICY.forbids(line, CWD)


@pytest.mark.parametrize("line", ORDINARY)
def test_ordinary_commands_are_not_forbidden(line):
    assert POLICY.forbids(line, CWD) is None


@pytest.mark.parametrize("line", ["(" * 50_000, "$(" * 20_000, "{" * 20_000, "a" * 300_000, "{a,b}" * 60, "'\"`" * 999])
def test_a_monstrous_line_is_no_exception(line):
    POLICY.forbids(line + " rm -rf x", CWD)
    POLICY.is_simple(line)


@pytest.mark.parametrize(
    "line",
    ["X=aa;" + "X=$X$X;" * 64 + "rm $X", "eval eval " * 500 + "rm", "$(" * 99 + ")" * 99, "sh -c 'sh -c x;' ;" * 999],
)
def test_a_line_that_grows_when_it_is_read_is_bounded(line):
    POLICY.forbids(line, CWD)


@pytest.mark.parametrize("line", ["{\U000c055e\u02a7", "é {ü日本,😀} && rm -rf ~", "rm -rf ~ # \U0010ffff{\ufffd"])
def test_characters_that_the_grammars_scanner_cannot_take_are_kept_from_it(line):
    assert bool(POLICY.forbids(line, CWD)) == ("rm" in line)
    assert POLICY.first_words("touch 'ünï 日本'") == ("touch", "ünï 日本")


def test_a_monstrous_line_hides_nothing_in_front_of_it():
    assert POLICY.forbids("rm -rf ~; " + "(" * 5000, CWD)


def test_removing_everything_is_judged_by_the_folder_it_runs_in():
    assert POLICY.forbids("rm -rf *", HOME)
    assert POLICY.forbids("rm -rf .", HOME)
    assert POLICY.forbids("rm -rf *", CWD) is None


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        (
            "git push",
            ["git push", "git push -f", "sudo git  'push'", "x; git push", "/usr/bin/git push"],
            ["git pushx"],
        ),
        ("npm publish*", ["npm publish", "npx x; npm publish --tag y"], ["npm pack"]),
        ("*--force*", ["git push --force", "git push '--for'ce"], ["git push"]),
        ("curl", ["curl x", "sh -c 'curl x'", "$(echo curl) x"], ["echo curl", "curlx"]),
        ("[gG]it push", ["git push"], ["git pull"]),
    ],
)
def test_patterns_of_the_user_hold_over_the_normalised_command(pattern, yes, no):
    policy = CommandPolicy(deny=(pattern,), homes=(HOME,), variables={})
    assert [line for line in yes if not policy.forbids(line, CWD)] == []
    assert [line for line in no if policy.forbids(line, CWD)] == []


def test_plain_lines_never_load_the_parser():
    script = """
import sys
from pathlib import Path
from agent_lsp.policy.commands import CommandPolicy
policy = CommandPolicy(deny=("git push",))
for line in ("npm test", "git commit -m 'fix bug'", "cargo build && cargo test", "ls > out.txt", "make 2>/dev/null"):
    assert policy.forbids(line, Path("/x")) is None
assert policy.first_words("npm test -- --watch") == ("npm", "test")
assert not [name for name in sys.modules if name.startswith("tree_sitter")]
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


_WHOLE = """
rm r m -rf ~ / sh -c echo x = sudo /dev/ sda mkfs dd of= env ./ ( ) ! 2>&1 eval C: /s rd > ; && | #
"""
PIECES = st.sampled_from([*_WHOLE.split(), "'", '"', "\\", "\n", " "])


@settings(deadline=None, max_examples=600)
@given(st.lists(PIECES, max_size=12))
def test_a_line_that_is_let_through_at_a_glance_is_let_through_by_the_parser_too(pieces):
    line = "".join(pieces)
    if POLICY._is_harmless(line):
        blind = _Blind(homes=POLICY.homes, variables=POLICY.variables)
        assert blind.forbids(line, CWD) is None


class _Blind(CommandPolicy):
    """Takes the long way for every line."""

    def _is_harmless(self, line):
        return False


@pytest.mark.parametrize("line", RUINOUS)
def test_nothing_ruinous_is_harmless_at_a_glance(line):
    assert not POLICY._is_harmless(line)


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=60))
def test_no_text_is_an_exception(line):
    POLICY.forbids(line, CWD)
    POLICY.first_words(line)
    _Blind(homes=POLICY.homes, variables={}).forbids(line + "'", CWD)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("npm test", "npm test"),
        ("  npm   test -- --watch", "npm test"),
        ("npm run build --if-present", "npm run build"),
        ("pytest -q", "pytest -q"),
        ("pytest tests/unit -x", "pytest tests/unit"),
        ("python -m pytest -q", "python -m pytest"),
        ("python tool.py -c x", "python tool.py"),
        ("uv run pytest -q", "uv run pytest -q"),
        ("git commit -m 'a; b'", "git commit"),
        ("git stash pop", "git stash pop"),
        ("ls -la src", "ls -la src"),
        ("touch hi", "touch hi"),
        ("cargo build --release", "cargo build"),
        ("npx prettier --check .", "npx prettier --check ."),
        ("'npm' te\\st", "npm test"),
    ],
)
def test_first_words_are_program_and_subcommand(line, words):
    assert POLICY.first_words(line) == tuple(words.split())


@pytest.mark.parametrize(
    "line",
    [
        *(
            "",
            " ",
            "#x",
            "a; b",
            "a && b",
            "a || b",
            "a | b",
            "a & b",
            "a &",
            "a;",
            "a\nb",
            "(a)",
            "{ a; }",
            "! a",
            "a > x",
        ),
        *(
            "a < x",
            "a 2>&1",
            "a <<< x",
            "a <<E\nx\nE",
            "touch $(b)",
            "touch `b`",
            "touch $X",
            "touch ${X}",
            "a <(b)",
            "a $((1))",
        ),
        *(
            "X=1 a",
            "X=1",
            "if a; then b; fi",
            "for x in y; do z; done",
            "a() { b; }",
            "time a",
            "a 'x",
            "a (b)",
            "touch ~",
            "a *",
        ),
        *(
            "sudo npm test",
            "env npm test",
            "sh -c x",
            "xargs a",
            "eval x",
            "rm x",
            "find .",
            "python -c x",
            "python",
            "node -e x",
        ),
        *(
            "python -W x -c y",
            "uv run python -c x",
            "npx -y x",
            "uv run sh -c x",
            "git -C x push",
            "git config a b",
            "curl x",
        ),
        *(
            "./sudo x",
            "/bin/sh x",
            "docker run x",
            "npm run",
            "nohup npm test",
            "export X=1",
            "[[ a ]]",
            "coproc a",
            "a\x00b",
        ),
    ],
)
def test_what_is_more_than_one_simple_command_has_no_first_words(line):
    assert POLICY.first_words(line) is None


BARE = st.lists(st.sampled_from([*"ab-./:=@%+, 019_", "if ", "time ", "in ", "test "]), max_size=16).map("".join)


@settings(deadline=None, max_examples=600)
@given(BARE)
def test_the_quick_reading_of_a_simple_line_agrees_with_the_parser(line):
    quick = simple_words(line)
    slow = simple_words(f"{line} ''")
    if quick is not None and slow is not None:
        assert slow == (*quick, "")


@pytest.mark.parametrize(
    "line",
    [
        *(
            "ls",
            "ls -la src",
            "cat a.txt b.txt",
            "rg -n needle src",
            "git status",
            "git diff HEAD",
            "git log --oneline -5",
        ),
        *("grep -rn 'a b' src", "head -20 x", "wc -l x", "pwd"),
    ],
)
def test_known_commands_that_only_look_are_known_if_the_setting_is_on(line):
    assert CommandPolicy(read_only=True).only_reads(line, CWD) is not None
    assert CommandPolicy().only_reads(line, CWD) is None


@pytest.mark.parametrize(
    "line",
    [
        *(
            "ls; rm x",
            "cat x > y",
            "cat $(x)",
            "ls *",
            "cat ~/x",
            "find . -delete",
            "sed -i s/a/b/ x",
            "sort -o x y",
            "tail -f x",
        ),
        *(
            "rg --pre sh x",
            "rg --pr=sh x",
            "grep -R x .",
            "grep -nR x .",
            "git push",
            "git diff --output=x",
            "git diff --outp=x",
        ),
        *(
            "git -c core.pager=sh log",
            "git",
            "git log --ext-diff",
            "tree -o x",
            "ls --dereference",
            "cat --x=/etc/passwd",
        ),
        *("./ls", "/tmp/ls", "sudo ls", "env ls", "xargs ls", "X=1 ls", "du -L", "grep -f/etc/passwd x", "uniq a b"),
    ],
)
def test_commands_that_may_do_more_do_not_count_as_looking(line):
    assert CommandPolicy(read_only=True).only_reads(line, CWD) is None


def test_the_paths_that_are_looked_at_are_told():
    found = CommandPolicy(read_only=True).only_reads("cat a.txt ../b /etc/passwd", CWD)
    assert found == (CWD / "a.txt", CWD / "../b", Path("/etc/passwd"))
