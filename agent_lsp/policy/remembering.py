"""The first words by which a simple command can be remembered, where they say enough about it."""

from __future__ import annotations

from typing import Final

from agent_lsp.policy.wrappers import WRAPPING, program

# Their further words decide what they run, where they send things or what they destroy: less than the whole line says
# too little.
_ONLY_WHOLE: Final = WRAPPING | frozenset(
    (
        *(
            "awk",
            "gawk",
            "mawk",
            "sed",
            "find",
            "fd",
            "perl",
            "ruby",
            "php",
            "lua",
            "osascript",
            "expect",
            "vim",
            "nvim",
        ),
        *("ed", "ex", "emacs", "ssh", "scp", "sftp", "rsync", "curl", "wget", "nc", "ncat", "socat", "telnet", "ftp"),
        *(
            "rm",
            "rmdir",
            "unlink",
            "dd",
            "shred",
            "truncate",
            "mv",
            "cp",
            "ln",
            "install",
            "tee",
            "tar",
            "zip",
            "unzip",
        ),
        *("chmod", "chown", "chgrp", "kill", "killall", "pkill", "reboot", "shutdown", "halt", "poweroff", "crontab"),
        *("at", "batch", "alias", "set", "mount", "umount", "gdb", "lldb", "tmux", "screen", "direnv", "nix-shell"),
        *("del", "erase", "rd", "ri", "remove-item", "format"),
    )
)
_ONLY_WHOLE_PAIRS: Final = frozenset(
    (program_name, word)
    for program_name, words in {
        "docker": "run exec",
        "podman": "run exec",
        "kubectl": "exec",
        "nix": "develop run shell",
        "mise": "exec",
        "git": "config filter-branch bisect rebase submodule clean rm",
    }.items()
    for word in words.split()
)
# The word after these is the command that counts.
_RUNNERS: Final = frozenset(
    (program_name, word)
    for program_name, words in {
        "npm": "exec",
        "pnpm": "exec dlx",
        "yarn": "run exec dlx",
        "bun": "run x",
        "uv": "run tool",
        "poetry": "run",
        "pipenv": "run",
        "pdm": "run",
        "hatch": "run",
        "rye": "run",
        "bundle": "exec",
        "docker": "compose",
        "git": "remote stash",
    }.items()
    for word in words.split()
)
_SCRIPTS: Final = frozenset((("npm", "run"), ("npm", "run-script"), ("pnpm", "run")))
_SHORT_RUNNERS: Final = frozenset(("npx", "bunx", "uvx", "pipx"))
_INTERPRETERS: Final = ("python", "pypy", "ipython", "node", "deno", "bun", "tsx", "ts-node", "java")
# Their options come before the word that says what they do.
_WITH_SUBCOMMANDS: Final = frozenset(("git", "npm", "pnpm", "yarn", "docker", "kubectl", "cargo", "go", "uv", "make"))
_MOST_WORDS: Final = 6


def remembered_by(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """The words, as written, up to the first that is no option; None if only the whole line says enough.

    `npm test -- -x` is remembered as `npm test`, `npm run build` and `ls -la src` as themselves, `python -c …` not.
    """
    name = program(words)
    following = words[1] if len(words) > 1 else ""
    if name in _ONLY_WHOLE or (name, following) in _ONLY_WHOLE_PAIRS:
        return None
    if name in _WITH_SUBCOMMANDS and following.startswith("-"):
        return None
    if (name, following) in _SCRIPTS:
        return words[:3] if len(words) > 2 and not words[2].startswith("-") else None
    if (name, following) in _RUNNERS:
        return _run_by(words, 2)
    if name in _SHORT_RUNNERS:
        return _run_by(words, 1)
    if name.startswith(_INTERPRETERS) and not _names_a_program(words):
        return None
    end = next((at for at, word in enumerate(words) if at and not word.startswith("-")), len(words) - 1) + 1
    return words[:end] if end <= _MOST_WORDS and "\n" not in "".join(words[:end]) else None


def _run_by(words: tuple[str, ...], skip: int) -> tuple[str, ...] | None:
    """The runner's own words and those by which the command that it runs can be remembered."""
    if len(words) <= skip or words[skip].startswith("-"):
        return None
    inner = remembered_by(words[skip:])
    return (*words[:skip], *inner) if inner else None


def _names_a_program(words: tuple[str, ...]) -> bool:
    """Whether an interpreter is told right away which script or module to run, and is not given code."""
    if len(words) > 2 and words[1] == "-m":
        return not words[2].startswith("-")
    return len(words) > 1 and not words[1].startswith("-") and words[1] != "eval"
