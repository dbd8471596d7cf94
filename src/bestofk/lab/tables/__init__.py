"""The measured tables of the documentation: error rates, claims, choices, one command each."""
