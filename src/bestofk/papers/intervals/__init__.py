"""Bootstrap analysis of multiple repetitions of experiments (Otero et al. 2013), again."""
