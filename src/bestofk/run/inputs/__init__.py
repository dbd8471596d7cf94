"""What a comparison is given: learners, data sets and a plan, checked before anything is run."""
