"""The short form of `make soak`."""

import pytest

from tests.load.soak import soak


@pytest.mark.asyncio
@pytest.mark.timeout(180)
async def test_sessions_that_work_side_by_side_leave_nothing_behind(tmp_path):
    said = []
    assert await soak(16, 4, tmp_path, said.append), "\n".join(said)
