"""The distribution of a sum if the labels inside every block are rearranged.

Rearranging the learners within each data set, independently across data sets, makes the total of
one learner a sum of independent draws: from each data set one of the learners' values, all equally
likely. Sign flips are the case of two learners.

==============  ===============================================================
``sums``        whole steps for the values, and both tails of the sum
``inversion``   tails from the transform of the sum, with error bounds
``sign_flips``  tails for two learners, many pairs at once
``draws``       tails estimated by random rearrangements
==============  ===============================================================
"""
