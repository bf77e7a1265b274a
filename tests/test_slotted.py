import copy
import pickle
from dataclasses import dataclass
from dataclasses import field as standard_field
from typing import Generic, TypeVar
from weakref import ref

import pytest

from agent_lsp.slotted import as_dict, field, frozen, mutable, replace

T = TypeVar("T")


@frozen
class Point:
    """A place."""

    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list)
    note: str = field(default="", repr=False, compare=False)

    @property
    def total(self) -> int:
        return self.x + self.y


@dataclass(frozen=True, slots=True)
class Standard:
    """A place."""

    x: int
    y: int = 2
    tags: list[str] = standard_field(default_factory=list)
    note: str = standard_field(default="", repr=False, compare=False)


@mutable
class Counter:
    count: int = 0


@frozen(order=True)
class Version:
    major: int
    minor: int


@frozen(eq=False, weakref_slot=True)
class Thing:
    name: str


@frozen
class Box(Generic[T]):
    content: T


@frozen
class Nothing:
    pass


ARGUMENTS = [((1,), {}), ((1, 3), {}), ((), {"x": 1, "tags": ["a"]}), ((1, 2, ["b"], "n"), {}), ((1,), {"note": "n"})]


@pytest.mark.parametrize(("values", "named"), ARGUMENTS)
def test_an_object_is_what_a_dataclass_would_be(values, named):
    ours, standard = Point(*values, **named), Standard(*values, **named)
    assert as_dict(ours) == {name: getattr(standard, name) for name in ("x", "y", "tags", "note")}
    assert repr(ours) == repr(standard).replace("Standard", "Point")
    assert ours == Point(*values, **named)
    assert (ours == Point(1, 2)) == (standard == Standard(1, 2))
    assert Point.__match_args__ == Standard.__match_args__
    assert Point.__doc__ == "A place."


@pytest.mark.parametrize(("values", "named"), [((), {}), ((1, 2, [], "", 5), {}), ((1,), {"x": 1}), ((1,), {"z": 1})])
def test_wrong_arguments_are_refused_in_the_same_words(values, named):
    with pytest.raises(TypeError) as ours:
        Point(*values, **named)
    with pytest.raises(TypeError) as standard:
        Standard(*values, **named)
    assert str(ours.value) == str(standard.value).replace("Standard", "Point")


def test_a_default_that_is_made_is_made_for_each_object():
    assert Point(1).tags is not Point(1).tags


def test_what_is_frozen_does_not_change_and_takes_nothing_else():
    point = Point(1)
    with pytest.raises(AttributeError, match="never changes"):
        point.x = 2
    with pytest.raises(AttributeError, match="never changes"):
        del point.x
    assert not hasattr(point, "__dict__")
    assert point.total == 3


def test_equal_values_have_equal_hashes_and_a_field_that_is_not_compared_counts_in_neither():
    assert Version(1, 2) == Version(1, 2)
    assert hash(Version(1, 2)) == hash(Version(1, 2))
    assert Point(1, note="a") == Point(1, note="b")
    assert Version(1, 2) != (1, 2)
    assert Nothing() == Nothing()
    assert Nothing() != Counter()


def test_order_is_that_of_the_values():
    assert sorted([Version(2, 0), Version(1, 9), Version(1, 1)]) == [Version(1, 1), Version(1, 9), Version(2, 0)]
    assert Version(1, 1) <= Version(1, 1) < Version(1, 2) and Version(2, 0) > Version(1, 9)
    with pytest.raises(TypeError):
        assert Point(1) < Point(2)


def test_what_is_mutable_changes_and_has_no_hash():
    counter = Counter()
    counter.count += 1
    assert counter == Counter(1)
    with pytest.raises(TypeError):
        hash(counter)
    with pytest.raises(AttributeError):
        counter.other = 1


def test_without_equality_an_object_is_only_itself():
    thing = Thing("a")
    assert thing != Thing("a")
    assert {thing: 1}[thing] == 1
    assert ref(thing)() is thing


def test_replace_changes_what_is_named_and_shares_the_rest():
    point = Point(1, tags=["a"])
    moved = replace(point, x=5)
    assert (moved.x, moved.y, point.x) == (5, 2, 1)
    assert moved.tags is point.tags
    with pytest.raises(TypeError):
        replace(point, z=1)


def test_a_generic_class_can_be_subscripted():
    assert Box[int](1) == Box(1)


def test_objects_are_copied_and_pickled():
    point = Point(1, tags=["a"])
    assert copy.copy(point) == copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point
    assert copy.deepcopy(point).tags is not point.tags


def test_fields_are_matched_by_position():
    match Point(1, 7):
        case Point(x, y):
            assert (x, y) == (1, 7)
