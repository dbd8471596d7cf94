"""Tests on the splits of one data set: cross-validation, random splits, parts of the rows."""
