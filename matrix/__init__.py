"""The matrix: what is done through one opening is checked through every other, with real clients.

`python -m matrix PROGRAM` starts a server of `PROGRAM`, and prints a table for each fact: the opening that acts in the rows, the
opening that looks in the columns.
"""
