"""The names of places that no tool may touch, and of those where a change can make code run."""

from __future__ import annotations

from typing import Final

SECRETS: Final = (
    ".ssh",
    ".aws",
    ".gnupg",
    ".password-store",
    ".gnome2/keyrings",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".local/share/python_keyring",
    "Library/Keychains",
    "AppData/Roaming/Microsoft/Credentials",
    "AppData/Roaming/Microsoft/Crypto",
    "AppData/Roaming/Microsoft/Protect",
    "AppData/Roaming/Microsoft/Vault",
    "AppData/Local/Microsoft/Credentials",
    "AppData/Local/Microsoft/Vault",
)
"""Below a home folder: credentials and keyrings."""

SYSTEM_SECRETS: Final = ("/Library/Keychains", "/System/Library/Keychains", "/etc/shadow", "/etc/gshadow")

# What runs code without being called by name: on the next commit, or when somebody merely opens the folder.
GUARDED_FOLDERS: Final = frozenset(
    {
        ".agent-lsp",
        ".cursor",
        ".devcontainer",
        ".fleet",
        ".git",
        ".githooks",
        ".helix",
        ".hg",
        ".husky",
        ".idea",
        ".svn",
        ".vs",
        ".vscode",
        ".zed",
        "git~1",
    }
)
GUARDED_FILES: Final = frozenset(
    {
        ".devcontainer.json",
        ".dir-locals-2.el",
        ".dir-locals.el",
        ".envrc",
        ".exrc",
        ".gitattributes",
        ".gitmodules",
        ".kakrc.local",
        ".lvimrc",
        ".nvim.lua",
        ".nvimrc",
        ".vimrc",
    }
)
GUARDED_ENDINGS: Final = (".code-workspace", ".sublime-project")
