"""Inner loops of the learners in C, compiled when the package is built.

There is one shared library per processor variant: `generic`, and on x86-64 also `x86-64-v3` and
`x86-64-v4`. All variants give the same bits. The module `library` loads them.
"""
