"""The functions of LAKEsuperior's API: :mod:`resource`, :mod:`query` and :mod:`admin`."""
