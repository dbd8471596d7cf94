"""The procedures: each turns evidence into an order or a choice."""
