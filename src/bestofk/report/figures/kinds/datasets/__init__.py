"""Figures over many data sets: how every learner does on each."""
