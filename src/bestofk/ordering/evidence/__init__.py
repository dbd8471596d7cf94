"""The evidence: from losses and a preference to one verdict per pair."""
