"""Tests on units that are drawn independently: data sets, or the instances of one test set."""
