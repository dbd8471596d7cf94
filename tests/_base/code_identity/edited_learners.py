"""A module with learners and a loss that tests write to a folder and edit."""

SOURCE = '''
import functools
import numpy as np
import helping
from helping import shifted
from sklearn.base import BaseEstimator, ClassifierMixin

OFFSET = 0.25
TABLE = {"first": [1.0, 2.0], "second": np.arange(3.0)}
NAMES = {"alpha", "beta", "gamma", "delta", "epsilon"}
CALLS = []


def deeper(values):
    return values * 1.0


def helper(values):
    return deeper(values) + OFFSET


def unused(values):
    return values - 1


def scaled(function):
    """A decorator."""

    @functools.wraps(function)
    def wrapper(self, X):
        return 1.0 * function(self, X)

    return wrapper


class Base(ClassifierMixin, BaseEstimator):
    """A base class."""

    def fit(self, X, y):
        """Learn."""
        CALLS.append(len(y))
        self.classes_ = np.unique(y)
        self.cut_ = self.middle(X)
        return self

    def middle(self, X):
        return np.median(X[:, 0])


class Cutting(Base):
    """A learner."""

    level = 0.5

    def __init__(self, power=1, chosen=None):
        self.power = power
        self.chosen = chosen

    @scaled
    def score_of(self, X, plus=0.125, *, times=1.0):
        # a comment
        from lately import late

        names = sum(len(name) for name in NAMES)
        first = TABLE["first"][0] + len(TABLE["second"]) + names
        return helper(times * X[:, 0] ** self.power) + plus + shifted(0.0) + helping.raised(
            0.0) + late(0.0) + 0 * first

    def predict(self, X):
        return self.classes_[(self.score_of(X) > self.cut_ + self.level).astype(int)]


def made_loss(weight):
    def loss(y_true, y_pred):
        return weight * float(np.mean(y_true != y_pred)) + lost(y_pred)

    return loss


def lost(y_pred, penalty=0.0):
    return penalty * len(y_pred)


learner = Cutting()
loss = made_loss(1.0)
'''
HELPING = """
RATE = 1.0


def shifted(value):
    return value * RATE


def raised(value):
    return value + 0.0


def elsewhere(value):
    return value
"""
LATELY = """
def late(value):
    return value
"""
