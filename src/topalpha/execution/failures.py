"""What becomes of a pull that gives no reward."""

from __future__ import annotations

import pickle
import traceback
from typing import NamedTuple

from topalpha.ask_tell import Pull, Result

#: What may be done about a pull that gives no reward.
POLICIES = ("raise", "retry", "worst")
#: What may be done about a pull that was begun and never answered.
LOSSES = ("again", "worst")


class PullFailed(RuntimeError):
    """A pull gave no reward, and the search could not go on; ``__cause__`` is what happened.

    The pull is still outstanding: a search that is resumed evaluates it again. All else that had finished was told.

    Parameters
    ----------
    pull
        The one that failed.
    reason
        What happened, in words.

    Examples
    --------
    >>> str(PullFailed(Pull(arm=3, number=0, order=17), "ZeroDivisionError: division by zero"))
    'pull 0 of arm 3 failed: ZeroDivisionError: division by zero'
    """

    def __init__(self, pull: Pull, reason: str) -> None:
        super().__init__(pull, reason)
        self.pull = pull
        self.reason = reason
        #: What is proved all the same, where whoever ran the search can say.
        self.result: Result | None = None

    def __str__(self) -> str:
        return f"pull {self.pull.number} of arm {self.pull.arm} failed: {self.reason}"


class Failure(NamedTuple):
    """Why a pull gave no reward. ``travel`` says that it never began: it could not be sent to its worker.

    ``refused`` says that it gave a number that cannot be a reward: no outcome of the evaluation but a mistake in it,
    and no policy for failures may hide that. NaN is an outcome: many evaluations give it where they fail. ``lost`` says
    that it never answered, so that nobody knows what it would have given.

    Examples
    --------
    >>> Failure.of(ZeroDivisionError("division by zero")).reason
    'ZeroDivisionError: division by zero'
    """

    reason: str
    error: BaseException
    travel: bool = False
    refused: bool = False
    lost: bool = False

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """The failure that this exception is."""
        if type(error).__name__ == "KilledWorker":  # dask's; its own text is about keys and limits
            return cls("its worker died, and so did others that tried", error, lost=True)
        return cls(f"{type(error).__name__}: {error}", error)

    @property
    def of_the_pull(self) -> bool:
        """Whether the pull itself failed: not if it was never sent, nor at Ctrl-C or an exit in the worker."""
        return isinstance(self.error, Exception) and not self.travel

    @classmethod
    def late(cls, timeout: float) -> Failure:
        """No reward came in time."""
        reason = f"no reward within {timeout:g} seconds"
        return cls(reason, TimeoutError(reason), lost=True)

    def portable(self) -> Failure:
        """The same, with an exception that survives the way back from another process.

        An exception that can be pickled and not unpickled would take the whole pool of processes down.
        """
        trace = "".join(traceback.format_exception(self.error))
        try:
            error: BaseException = pickle.loads(pickle.dumps(self.error))
        except Exception:  # a person's own class may raise anything here; its words and its trace go on all the same
            error = RuntimeError(self.reason)
        error.add_note("In the worker:\n" + trace)  # notes travel with the exception, tracebacks do not
        return self._replace(error=error)
