"""Plans: which rows train and which test, and the Design that is left when rows are forgotten."""
