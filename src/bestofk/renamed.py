"""Arguments under an old name, which work for one release and say the new one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar
from warnings import warn

P = ParamSpec("P")
R = TypeVar("R")


def renamed_arguments(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that also takes arguments by their old names, with a `FutureWarning`.

    Parameters
    ----------
    **names
        The new name by the old one.

    Examples
    --------
    >>> @renamed_arguments(jobs="n_jobs")
    ... def workers(*, n_jobs=1):
    ...     return n_jobs
    >>> workers(n_jobs=2)
    2
    """

    def renaming(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            for old, new in names.items():
                if old not in kwargs:
                    continue
                if new in kwargs:
                    raise TypeError(
                        f"{function.__name__}() takes {new}; {old} is its old name: give one."
                    )
                warn(
                    f"{old} is now called {new}, as in scikit-learn; {old} will go in the release "
                    "after this one.",
                    FutureWarning,
                    stacklevel=2,
                )
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return called

    return renaming
