"""Tests of what some systems cannot do, to skip when these are simulated."""

NEEDS_LINUX = {
    "test_processes_of_a_fit_end_with_its_worker": "processes are found by their environment",
    "test_only_marked_processes_are_ended": "processes are found by their environment",
    "test_a_stopped_worker_does_not_exceed_the_timeout": "stopped processes are seen in /proc",
    "test_a_learner_that_stops_itself_exceeds_the_timeout": "the worker is a fork",
    "test_a_worker_killed_from_outside_loses_nothing": "workers start too late to be killed",
    "test_a_deadline_is_kept": "a new interpreter starts later than the deadline",
    "test_a_budget_stops_in_time_and_favours_no_learner": "a new interpreter starts too late",
}
"""Only Linux has /proc, and forks of a process with threads, which start immediately."""
NEEDS_POSIX = {
    "test_a_group_that_ignores_sigterm_is_killed": "there are no process groups",
    "test_signals_end_the_work_in_an_orderly_way[SIGHUP-129-auto]": "there is no SIGHUP",
}
SKIPPED = {"macos": NEEDS_LINUX, "windows": {**NEEDS_LINUX, **NEEDS_POSIX}}
