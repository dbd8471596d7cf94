"""The formats: each file knows the tables of one tool, and says which columns to read them by."""
