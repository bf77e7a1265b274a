"""One good call and one unfit call of every built-in tool, and what kind of access each has."""

from __future__ import annotations

import pytest

PATCH = "*** Begin Patch\n*** Update File: hello.txt\n@@\n-world\n+there\n*** End Patch"
GOOD = {
    "read_file": {"file_path": "hello.txt"},
    "write_file": {"file_path": "new/file.txt", "content": "x\n"},
    "edit_file": {"file_path": "hello.txt", "old_string": "world", "new_string": "there"},
    "apply_patch": {"patch": PATCH},
    "list_files": {},
    "search_text": {"pattern": "world"},
    "diagnostics": {},
    "exec_command": {"cmd": "echo hi"},
    "input_command": {"process_id": "proc-00000000"},
    "kill_command": {"process_id": "proc-00000000"},
    "read_image": {"file_path": "hello.txt"},
    "describe_image": {"file_path": "hello.txt"},
    "ask_user": {"question": "which?"},
    "todo_write": {"items": [{"text": "one"}]},
    "run_subagent": {"prompt": "look around", "agent": "scout"},
    "input_subagent": {"subagent_id": "session-1"},
    "kill_subagent": {"subagent_id": "session-1"},
    "exit_plan": {"plan": "# Do it"},
    "web_fetch": {"url": "https://example.com/"},
}
UNFIT = {
    "read_file": ({"file_path": 5, "offset": 0}, "file_path offset"),
    "write_file": ({"file_path": "a\0b"}, "file_path content"),
    "edit_file": ({"file_path": "", "old_string": []}, "file_path old_string new_string"),
    "apply_patch": ({"patch": "no patch"}, "patch"),
    "list_files": ({"path": [], "depth": 0}, "path depth"),
    "search_text": ({"context": -1, "path": {}}, "pattern context path"),
    "diagnostics": ({"file_path": ""}, "file_path"),
    "exec_command": ({"run_in_background": "perhaps"}, "cmd run_in_background"),
    "input_command": ({"yield_time_ms": "soon"}, "process_id yield_time_ms"),
    "kill_command": ({}, "process_id"),
    "ask_user": ({"options": "yes"}, "question options"),
    "todo_write": ({"items": [{"status": "perhaps"}]}, "items.0.text items.0.status"),
    "read_image": ({"file_path": ""}, "file_path"),
    "describe_image": ({"question": []}, "file_path question"),
    "run_subagent": (
        {"agent": "nobody", "thinking_level": "much", "context": 3},
        "prompt agent thinking_level context",
    ),
    "input_subagent": ({"wait_ms": -1}, "subagent_id wait_ms"),
    "kill_subagent": ({"subagent_id": ""}, "subagent_id"),
    "exit_plan": ({"plan": ""}, "plan"),
    "web_fetch": ({"url": ["a"]}, "url"),
}
KINDS = {
    "read_file": "read", "list_files": "read", "search_text": "read", "write_file": "edit", "edit_file": "edit",
    "apply_patch": "edit", "diagnostics": "read", "exec_command": "command", "input_command": "own",
    "kill_command": "own", "ask_user": "own", "todo_write": "own", "read_image": "read", "describe_image": "read",
    "run_subagent": "other", "input_subagent": "own", "kill_subagent": "own", "exit_plan": "ask", "web_fetch": "ask",
}  # fmt: skip
tools = pytest.mark.parametrize("name", GOOD)
