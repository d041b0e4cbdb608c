"""Key sets read from a URL."""

from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from cenote.gsd._ranges import STORE, Ranges
from cenote.gsd._stage import stored

FORMATS = ('quickdump', 'dump', 'json', 'toml', 'ini')
MARKS = (b'EKDB', b'kdbOpen ')
#: Bytes of one request.
PIECE = 8 << 20


def fetch(url, format):
    """The content of a URL, and its format unless that can be detected from the content."""
    is_store = urlsplit(url).scheme in STORE
    source = (stored(url) if is_store else None) or Ranges(url)
    pieces = (
        source.read_range(start, min(PIECE, source.size - start))
        for start in range(0, source.size, PIECE)
    )
    content = b''.join(pieces)
    if format is None and not content.startswith(MARKS):
        suffix = PurePosixPath(unquote(urlsplit(url).path)).suffix[1:]
        format = suffix if suffix in FORMATS else None
    return content, format
