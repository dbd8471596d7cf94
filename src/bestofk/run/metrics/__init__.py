"""How predictions are judged: losses, scorers, weights of rows, and the judge that asks a model."""
