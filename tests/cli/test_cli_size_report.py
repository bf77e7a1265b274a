import runpy
from pathlib import Path

import pytest

REPORT = runpy.run_path(str(Path(__file__).parents[2] / ".ci" / "size_report.py"))


def sizes(tmp_path, source):
    file = tmp_path / "a.py"
    file.write_text(source)
    return {(kind, Path(name).name): size for kind, name, size in REPORT["measured"](file)}


def test_functions_are_measured_by_their_dotted_names_wherever_they_are(tmp_path):
    found = sizes(
        tmp_path, "class A:\n    def b(self, x, *, y, **z):\n        def c():\n            pass\n        c()\n"
    )

    assert found["function", "a.py:A.b"] == 4
    assert found["function", "a.py:A.b.c"] == 2
    assert found["parameters", "a.py:A.b"] == 3
    assert found["module", "a.py"] == 5


@pytest.mark.parametrize(
    ("found", "allowed", "complaints"),
    [
        ({}, {}, 0),
        ({("module", "a"): 400}, {}, 1),
        ({("module", "a"): 400}, {("module", "a"): 400}, 0),
        ({("module", "a"): 401}, {("module", "a"): 400}, 1),
        ({}, {("module", "a"): 400}, 1),
    ],
)
def test_the_list_of_accepted_sizes_only_gets_shorter(found, allowed, complaints):
    assert len(REPORT["verdicts"](found, allowed)) == complaints


def test_the_accepted_list_is_read_with_its_comments():
    assert REPORT["accepted"]("# why\nfunction a.py:f 50  # soon\n\n") == {("function", "a.py:f"): 50}
