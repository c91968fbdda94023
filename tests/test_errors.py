"""What an error means to a program."""

import pytest

from adamerge import errors
from adamerge.errors import AdamergeError, outcome

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, AdamergeError)
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_has_a_status_and_an_exit_code(kind):
    status, exit_code = outcome(kind("words"))
    assert 400 <= status < 600
    assert exit_code in (1, errors.TRY_AGAIN)


def test_the_nearest_class_decides():
    assert outcome(errors.BadShape("")).status == 400
    assert outcome(errors.Damaged("")).status == 503
    assert outcome(errors.Locked("")) == (503, 75)
    assert outcome(errors.PageFailed("")).status == 500


def test_what_we_wrote_and_what_somebody_gave_us_are_different_errors():
    assert not issubclass(errors.Damaged, errors.BadFile)
