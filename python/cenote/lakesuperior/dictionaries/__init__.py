"""Names: :mod:`cenote.lakesuperior.dictionaries.namespaces`."""
