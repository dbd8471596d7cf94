"""What a report shows of a choice between language models: costs, items, tasks, what is missing."""
