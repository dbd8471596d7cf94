"""The papers again: their printed figures as data, and the code that obtains them anew."""
