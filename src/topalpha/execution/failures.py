"""Pulls that give no reward."""

from __future__ import annotations

import pickle
import traceback
from typing import NamedTuple

from topalpha.ask_tell import Pull, Result

#: Actions for a pull that gives no reward.
POLICIES = ("raise", "retry", "worst")
#: Actions for a pull that began and never answered.
LOSSES = ("again", "worst")


class PullFailed(RuntimeError):
    """A pull gave no reward, and the search could not go on; ``__cause__`` is the original error.

    The pull is still outstanding: a resumed search evaluates it again. All other finished pulls were told.

    Parameters
    ----------
    pull
        The pull that failed.
    reason
        Why it failed.

    Examples
    --------
    >>> str(PullFailed(Pull(arm=3, number=0, order=17), "ZeroDivisionError: division by zero"))
    'pull 0 of arm 3 failed: ZeroDivisionError: division by zero'
    """

    def __init__(self, pull: Pull, reason: str) -> None:
        super().__init__(pull, reason)
        self.pull = pull
        self.reason = reason
        #: The proved result, if the caller can still supply one; else None.
        self.result: Result | None = None

    def __str__(self) -> str:
        return f"pull {self.pull.number} of arm {self.pull.arm} failed: {self.reason}"


class NoReward(NamedTuple):
    """Why a pull gave no reward. ``travel``: it never began, because it could not be sent to its worker.

    ``refused``: it returned a number that cannot be a reward. That is a mistake in the evaluation, not an outcome, and
    no policy for failures may hide it. NaN is an outcome: many evaluations return it when they fail. ``lost``: it never
    answered, so its reward is unknown.

    Examples
    --------
    >>> NoReward.of(ZeroDivisionError("division by zero")).reason
    'ZeroDivisionError: division by zero'
    """

    reason: str
    error: BaseException
    travel: bool = False
    refused: bool = False
    lost: bool = False

    @classmethod
    def of(cls, error: BaseException) -> NoReward:
        """The failure for this exception."""
        if type(error).__name__ == "KilledWorker":  # dask's own text is about keys and limits
            return cls("its worker died, and so did others that tried", error, lost=True)
        return cls(f"{type(error).__name__}: {error}", error)

    @property
    def of_the_pull(self) -> bool:
        """Whether the pull itself failed: False if it was not sent, or at Ctrl-C or an exit in the worker."""
        return isinstance(self.error, Exception) and not self.travel

    @classmethod
    def late(cls, timeout: float) -> NoReward:
        """The failure of a pull that gave no reward in time."""
        reason = f"no reward within {timeout:g} seconds"
        return cls(reason, TimeoutError(reason), lost=True)

    def portable(self) -> NoReward:
        """The same failure, with an exception that can return from another process.

        An exception that can be pickled but not unpickled would break the whole pool of processes.
        """
        trace = "".join(traceback.format_exception(self.error))
        try:
            error: BaseException = pickle.loads(pickle.dumps(self.error))
        except Exception:  # a user's class may raise anything here; keep its text and trace
            error = RuntimeError(self.reason)
        error.add_note("In the worker:\n" + trace)  # notes travel with the exception, tracebacks do not
        return self._replace(error=error)
