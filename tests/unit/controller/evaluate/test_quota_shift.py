"""What a negotiation is about: GPUs more or less, by tenant."""

from __future__ import annotations

import pytest

from controller.api.errors import InputError
from controller.evaluate.quota_shift import shifted, shifts_of
from controller.simulate.shares import Share

SHARES = (Share("vision", 8, 24, burst=64, ceiling=40), Share("speech", 16))


def test_words_become_shifts() -> None:
    assert shifts_of(["vision=-32", "team=a=+4"]) == {"vision": -32, "team=a": 4}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["vision"], "TENANT=GPUS: got vision, expected a tenant and GPUs more or less, such as vision=-32"),
        (["vision=32"], "got vision=32, expected a tenant and GPUs more or less"),
        (["vision=+0"], "got vision=+0, expected a tenant and GPUs more or less"),
        (["vision=+1", "vision=-1"], "got vision=-1, expected each tenant once"),
    ],
)
def test_words_that_say_something_else_are_refused(words: list[str], said: str) -> None:
    with pytest.raises(InputError) as caught:
        shifts_of(words)
    assert said in str(caught.value)


def test_the_float_moves_first_and_bounds_move_along() -> None:
    vision, speech = shifted(SHARES, {"vision": -28, "speech": 28})
    assert (vision.guarantee, vision.floating, vision.burst, vision.ceiling) == (4, 0, 36, 12)
    assert (speech.guarantee, speech.floating) == (16, 28)


@pytest.mark.parametrize(
    ("shifts", "said"),
    [
        ({"visoin": 8}, "got visoin, expected a tenant with a quota: speech, vision; did you mean vision?"),
        ({"speech": -17}, "got speech=-17, expected at most the 16 GPUs that it has"),
    ],
)
def test_tenants_and_quotas_that_are_none_are_refused(shifts: dict[str, int], said: str) -> None:
    with pytest.raises(InputError) as caught:
        shifted(SHARES, shifts)
    assert said in str(caught.value)
