"""Run tasks in this process, in worker processes, or on a cluster."""
