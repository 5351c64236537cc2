"""A setting that is no number is told with its option and its name."""

import pytest

from manipula.cli.library import settings
from manipula.errors import DescriptionError


def test_a_setting_that_is_no_number_names_option_and_joint():
    with pytest.raises(DescriptionError, match=r"--lock.*'j1=x'.*No parameter named 'x'"):
        settings(["j1=x"], "--lock")
