"""Fundamentals of algorithm selection for classification (Ler), again."""
