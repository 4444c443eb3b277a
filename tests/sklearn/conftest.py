"""What several tests of searches for models look at."""

import pytest
from sklearn.naive_bayes import GaussianNB

from tests.support.known_models import SMOOTHING, TARGET, X, Y
from topalpha.sklearn import TopAlphaSearchCV


@pytest.fixture(scope="session")
def iris():
    return TopAlphaSearchCV(GaussianNB(), SMOOTHING, **TARGET).fit(X, Y)
