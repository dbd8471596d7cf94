"""The identity of code: the same as long as what runs is the same, on every machine."""
