"""Tables of other tools: each module recognises them and says which columns to read."""
