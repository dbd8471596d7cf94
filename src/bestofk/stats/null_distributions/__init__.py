"""The distribution of a sum when the labels inside every block are rearranged.

Rearranging learners inside data sets, independently from one data set to the next, makes the
total of one learner a sum of independent draws: from every data set one of the values that the
learners reached there, each with the same chance. Sign flips are the case of two learners.

=============  ================================================================
``grid``       puts the values on whole steps, so that ties are ties
``tails``      both tails of the sum, by counting, convolution or inversion
``counting``   tails of few arrangements, or of few different sums, counted out
``inversion``  tails of all other sums, from their transform, to within known bounds
``contour``    the line along which that is integrated
``signs``      the same for two learners and many pairs at once
``draws``      the same by random rearrangements
=============  ================================================================
"""
