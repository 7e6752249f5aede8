"""The mark of tests that need SmolLM2's weights, which are not in git."""

import pytest

from specdec_lib.models.published.fetch import is_fetched

needs_smollm2 = pytest.mark.skipif(not is_fetched(), reason="run `specdec fetch smollm2-135m`")
