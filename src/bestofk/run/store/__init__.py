"""The store: what is done is kept in memory, in a file or in a database."""
