"""The release gate: fail a build that is worse than the released ones."""

DEFAULT_LEDGER = "bestofk-gate.json"
