"""The request for the summary that takes a context's place."""

from __future__ import annotations

COMPACTION_PROMPT = """\
The conversation is about to be replaced by a summary that you write now; only the summary will be left of it. Write it
for yourself, so that you can go on without asking again. Do not call any tool. Put everything between [summary] and
[/summary]:

1. What the user wants, in their own words where these matter, with every wish that still holds.
2. What was decided and why, and what was tried and did not work.
3. The state of the work: files by path with what was changed in them, commands that matter with what they showed.
4. What is open, and the very next step."""
