"""Sentences of certificates as former versions wrote them, so that these still verify."""

from __future__ import annotations

from dataclasses import replace

from topalpha.ask_tell import Task
from topalpha.certificate.document import REASONS, Certificate, claimed


def former(certificate: Certificate, task: Task, refutation: str = "") -> Certificate:
    """The certificate in the words of the versions up to 0.2.0, which named arms and began with the end.

    Examples
    --------
    >>> from topalpha.ask_tell import Search
    >>> from topalpha.certificate import certify
    >>> task = Task(0.3, 0.4, 0.2, algorithm="cc-lucb")
    >>> search = Search(task.design())
    >>> while (pull := search.ask()) is not None:
    ...     search.tell(pull, float(pull.arm == 2))
    >>> print(former(certify(search, task, "stopped", ["a", "b", "c"]), task).statement)
    The search ended because the stopping rule was met. With probability at least 0.8, the mean of arm 2 is within 0.4
    of the top 30% of the law that candidates are drawn from.
    """
    law = task.law if task.about or task.pool else "the law that candidates are drawn from"
    ended = f"The search ended because {REASONS.get(certificate.reason, certificate.reason)}."
    if certificate.reason == "running":
        ended = "The search has not ended."
    subject = f"the mean of arm {certificate.arm} is"
    if len(certificate.selection) > 1:
        subject = f"the means of arms {', '.join(map(str, certificate.selection))} are each"
    certificate = replace(certificate, law=law)
    return replace(certificate, statement=f"{ended} {claimed(certificate, subject, refutation)}")
