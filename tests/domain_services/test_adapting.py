"""What a service is asked is bounded by the time there is."""

import pytest

from cogworks.domain_services.adapting import as_configured
from cogworks.domain_services.exploring import BesideParams


@pytest.mark.parametrize(("asked_s", "sent_s"), [(600, 77), (20, 20)])
def test_what_is_tried_beside_the_tests_takes_no_longer_than_its_service_may(
    asked_s: float, sent_s: float
) -> None:
    params = BesideParams(tests=("t.py::a",), lines={}, timeout_s=asked_s)

    assert as_configured(params, command=("pytest",), limit_s=77).timeout_s == sent_s
