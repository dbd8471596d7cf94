"""The formats: each file knows the logs of one harness, and gives rows."""
