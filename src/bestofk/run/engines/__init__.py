"""Where work is done: in this process, in worker processes, on a cluster."""
