"""Files through a client that reads and writes them: its buffers are the truth."""

from pathlib import Path

import pytest

from agent_lsp.providers.scripted import call, text
from tests.acp.acp_end import FILES, Refused, acp_end

pytestmark = pytest.mark.asyncio
READS = {"fs": {"readTextFile": True, "writeTextFile": False}}
WRITES = {"fs": {"readTextFile": False, "writeTextFile": True}}
EDIT = {"file_path": "a.txt", "old_string": "two", "new_string": "2"}


@pytest.fixture
def work(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("one\ntwo\n")
    return tmp_path / "work"


class Buffers:
    """What an editor holds; what it is told to write it saves, as an editor does."""

    def __init__(self, client, **texts):
        self.texts = texts
        self.written = []
        client.handlers["fs/read_text_file"] = self.read
        client.handlers["fs/write_text_file"] = self.write

    def read(self, params):
        path = Path(params["path"])
        if path.stem in self.texts:
            return {"content": self.texts[path.stem]}
        if not path.exists():
            raise Refused({"code": -32002, "message": "no such file"})
        return {"content": path.read_text()}

    def write(self, params):
        self.written.append(params["path"])
        self.texts.pop(Path(params["path"]).stem, None)
        Path(params["path"]).parent.mkdir(parents=True, exist_ok=True)
        Path(params["path"]).write_text(params["content"])


async def edited(client, model, work, name="edit_file", arguments=EDIT):
    session = await client.new(work)
    model.script([call(name, arguments, "e1")], [text("done")])
    await client.prompted(session, "go")
    return client.updates("tool_call_update")[-1]


async def test_what_is_read_is_what_the_editor_shows(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch, capabilities=FILES) as (client, model):
        Buffers(client, a="unsaved words\n")
        update = await edited(client, model, work, "read_file", {"file_path": "a.txt"})
        assert "unsaved words" in update["content"][0]["content"]["text"]


async def test_an_edit_is_written_by_the_editor(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch, capabilities=FILES, approval_mode="allow-all") as (client, model):
        buffers = Buffers(client, a="one\ntwo\nthree\n")
        update = await edited(client, model, work)
        assert update["status"] == "completed" and buffers.written == [str(work / "a.txt")]
        assert (work / "a.txt").read_text() == "one\n2\nthree\n"


async def test_a_new_file_is_written_by_the_editor(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch, capabilities=WRITES, approval_mode="allow-all") as (client, model):
        buffers = Buffers(client)
        await edited(client, model, work, "write_file", {"file_path": "d/n.txt", "content": "new"})
        assert buffers.written == [str(work / "d" / "n.txt")] and (work / "d" / "n.txt").read_text() == "new"


async def test_a_client_that_only_reads_keeps_its_unsaved_changes(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch, capabilities=READS, approval_mode="allow-all") as (client, model):
        Buffers(client, a="one\ntwo\nunsaved\n")
        update = await edited(client, model, work)
        assert update["status"] == "failed" and "unsaved" in update["content"][0]["content"]["text"]
        assert (work / "a.txt").read_text() == "one\ntwo\n"


async def test_a_client_that_only_reads_and_has_saved_is_edited_on_the_disk(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch, capabilities=READS, approval_mode="allow-all") as (client, model):
        Buffers(client)
        assert (await edited(client, model, work))["status"] == "completed"
        assert (work / "a.txt").read_text() == "one\n2\n"


async def test_an_editor_that_refuses_leaves_the_file_as_it_is(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch, capabilities=FILES, approval_mode="allow-all") as (client, model):
        Buffers(client)

        def refuse(_):
            raise Refused({"code": -1, "message": "it is read-only"})

        client.handlers["fs/write_text_file"] = refuse
        update = await edited(client, model, work)
        assert update["status"] == "failed" and "read-only" in update["content"][0]["content"]["text"]


async def test_an_editor_that_says_yes_and_does_nothing_is_not_believed(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch, capabilities=FILES, approval_mode="allow-all") as (client, model):
        Buffers(client)
        client.handlers["fs/write_text_file"] = lambda _: {}
        assert (await edited(client, model, work))["status"] == "failed"


@pytest.mark.parametrize("answer", [None, {}, {"content": 1}, [], "text"])
async def test_an_editor_that_talks_nonsense_is_as_one_without_the_file(answer, tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch, capabilities=READS) as (client, model):
        client.handlers["fs/read_text_file"] = lambda _: answer
        update = await edited(client, model, work, "read_file", {"file_path": "a.txt"})
        assert "one" in update["content"][0]["content"]["text"]


async def test_line_ends_that_an_editor_normalises_stay_as_they_are(tmp_path, work, monkeypatch):
    (work / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    async with acp_end(tmp_path, monkeypatch, capabilities=FILES, approval_mode="allow-all") as (client, model):
        buffers = Buffers(client, a="one\ntwo\n")
        written = []
        client.handlers["fs/write_text_file"] = lambda params: (
            written.append(params["content"]) or (buffers.texts.__setitem__("a", params["content"]))
        )
        await edited(client, model, work)
        assert written == ["one\r\n2\r\n"]


async def test_bytes_that_are_not_plain_utf8_stay_on_the_disk(tmp_path, work, monkeypatch):
    (work / "a.txt").write_bytes(b"\xef\xbb\xbfone\ntwo\n")
    async with acp_end(tmp_path, monkeypatch, capabilities=FILES, approval_mode="allow-all") as (client, model):
        buffers = Buffers(client)
        buffers.texts["a"] = "one\ntwo\n"
        await edited(client, model, work)
        assert not buffers.written and (work / "a.txt").read_bytes() == b"\xef\xbb\xbfone\n2\n"


async def test_a_patch_that_fails_half_way_is_taken_back(tmp_path, work, monkeypatch):
    (work / "b.txt").write_text("bee\n")
    patch = (
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** Update File: b.txt\n@@\n-bee\n+B\n*** End Patch\n"
    )
    async with acp_end(tmp_path, monkeypatch, capabilities=FILES, approval_mode="allow-all") as (client, model):
        buffers = Buffers(client)

        def write(params):
            if params["path"].endswith("b.txt"):
                raise Refused({"code": -1, "message": "no"})
            buffers.write(params)

        client.handlers["fs/write_text_file"] = write
        update = await edited(client, model, work, "apply_patch", {"patch": patch})
        assert update["status"] == "failed" and (work / "a.txt").read_text() == "one\ntwo\n"


async def test_a_client_without_files_is_never_asked(tmp_path, work, monkeypatch):
    async with acp_end(tmp_path, monkeypatch, approval_mode="allow-all") as (client, model):
        await edited(client, model, work)
        assert not client.asked("fs/read_text_file") and (work / "a.txt").read_text() == "one\n2\n"


async def test_a_link_shows_the_text_on_the_disk_and_what_lies_outside_is_not_asked_for(tmp_path, work, monkeypatch):
    (tmp_path / "out.txt").write_text("outside")
    async with acp_end(tmp_path, monkeypatch, capabilities=FILES, approval_mode="allow-all") as (client, model):
        Buffers(client)
        await edited(client, model, work, "read_file", {"file_path": str(tmp_path / "out.txt")})
        assert not client.asked("fs/read_text_file")
