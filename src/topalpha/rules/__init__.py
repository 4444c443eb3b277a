"""What an algorithm is, and the parts that algorithms share: sampling, stopping, recommendation and claims.

:mod:`~topalpha.rules.protocol` has the vocabulary, :mod:`~topalpha.rules.columns` what bounds and evidence keep of each
arm; the other modules each have one rule. Rules use only scalars, ``len`` and indexing: they run on lists, and compiled
on arrays.
"""
