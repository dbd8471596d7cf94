"""What the papers add to the registries; the entry point ``bestofk.plugins`` names this module."""

from bestofk._base.registry import offer

offer("command", "bestofk.papers.commands:COMMANDS")
offer("list", "bestofk.papers.commands.listing:LISTINGS")
offer("learner", "bestofk.papers.learners:LEARNERS")
offer("test of K learners", "bestofk.papers.stats.entries:MULTIPLE_TESTS")
offer("rule", "bestofk.papers.decide.entries:RULES")
offer("pairwise test", "bestofk.papers.stats.entries:PAIRWISE_TESTS")
