"""The distribution of a sum if the labels inside every block are rearranged.

Rearranging the learners within each data set, independently across data sets, makes the total of
one learner a sum of independent draws: from each data set one of the learners' values, all equally
likely. Sign flips are the case of two learners.

===============  ==================================================================
``sums``         whole steps for the values, and both tails of the sum: counted or
                 convolved exactly, or inverted
``inversion``    approximate tails with bounds, from the transform of the sum
``sign_flips``   tails for two learners, many pairs at once
``saddlepoint``  fast approximate tails for two learners, many pairs at once
===============  ==================================================================
"""
