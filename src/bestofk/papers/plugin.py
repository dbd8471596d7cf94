"""Entries that the papers add to the registries; the entry point ``bestofk.plugins`` names it."""
