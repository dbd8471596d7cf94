"""Log formats: each module reads the logs of one harness into rows."""
