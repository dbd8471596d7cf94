"""The inner loops of the learners, in C, built with the package; see `library` for their loading.

One shared library for each kind of processor: `generic`, and on x86-64 also `x86-64-v3` and
`x86-64-v4`. All give the same bits.
"""
