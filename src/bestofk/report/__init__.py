"""What a reader sees: figures, sentences and tables of results that exist already."""
