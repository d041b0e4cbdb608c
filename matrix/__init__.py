"""The matrix: changes made through one opening are checked through every other, with real clients.

`python -m matrix PROGRAM` starts a server of `PROGRAM`, and prints a table for each fact: one row for each opening that makes
changes, one column for each opening that checks them.
"""
