"""Key sets as Arrow tables, without copying names or values."""

import pyarrow


def table(columns):
    """The columns as a table of ``name``, ``value`` and ``binary``; null values are null."""
    kinds = columns.kinds
    value = _column(pyarrow.large_binary(), columns.value_offsets, columns.value_data, kinds != 2)
    return pyarrow.table({
        'name': _text(columns.name_offsets, columns.name_data),
        'value': value,
        'binary': pyarrow.array(kinds != 0),
    })


def _text(offsets, data):
    """A text array if everything is UTF-8, otherwise bytes."""
    try:
        array = _column(pyarrow.large_string(), offsets, data)
        array.validate(full=True)
    except pyarrow.ArrowInvalid:
        array = _column(pyarrow.large_binary(), offsets, data)
    return array


def _column(kind, offsets, data, valid=None):
    mask = None if valid is None or valid.all() else pyarrow.array(valid).buffers()[1]
    buffers = [mask, pyarrow.py_buffer(offsets), pyarrow.py_buffer(data)]
    return pyarrow.Array.from_buffers(kind, len(offsets) - 1, buffers)
