"""The short form: about 20,000 inputs that are nearly right, the same ones each time, so that who breaks something sees
it at once and nobody else does. New ones are tried by the long form, `make fuzz`.
"""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.fuzz import pure_targets, served_targets, trace_target
from tests.fuzz.mutation import KINDS, LARGEST, Edit, Sample, mutated, random_edits

PURE, SERVED = pure_targets.TARGETS, served_targets.TARGETS
NUMBERS = st.integers(0, LARGEST)
EDITS = st.lists(st.builds(Edit, st.sampled_from(sorted(KINDS)), NUMBERS, NUMBERS), min_size=1, max_size=5)


def inputs(target):
    """One input of a target, or as many as it takes at once."""
    one = st.builds(mutated, st.sampled_from(target.samples), EDITS)
    return st.lists(one, min_size=target.batch, max_size=target.batch)


def fuzz(target):
    @settings(
        deadline=None,
        max_examples=max(1, target.short // target.batch),
        database=None,
        derandomize=True,
        phases=[Phase.generate] if target.batch > 1 else [Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs(target))
    def trial(tried):
        target.try_all(tried)

    trial()


@pytest.mark.parametrize("target", PURE, ids=lambda one: one.name)
def test_nothing_nearly_right_breaks_what_reads_it(target):
    fuzz(target)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("target", SERVED, ids=lambda one: one.name)
def test_every_request_that_is_nearly_right_gets_one_answer_and_so_does_the_next(target):
    fuzz(target)


@pytest.mark.timeout(180)
def test_a_spoilt_trace_is_read_as_far_as_it_can_be_and_gone_on_with():
    (target,) = trace_target.targets()
    fuzz(target)


def test_the_short_form_tries_enough():
    targets = (*PURE, *SERVED, *trace_target.targets())
    assert sum(target.short for target in targets) >= 20_000
    for target in targets:
        target.try_all([sample.whole() for sample in target.samples] * target.batch)


def test_every_edit_fits_every_sample():
    samples = [Sample(()), Sample((b"",)), Sample((b'{"a": [1]}', b"x"), b"\n")]
    for kind in KINDS:
        for sample in samples:
            assert isinstance(mutated(sample, [Edit(kind, 0, 0), Edit(kind, LARGEST, LARGEST)]), bytes)


def test_the_same_seed_gives_the_same_input():
    import random

    sample = PURE[0].samples[0]
    assert mutated(sample, random_edits(random.Random(7))) == mutated(sample, random_edits(random.Random(7)))
