"""UIDs, the internal IRIs of resources, and where they are on the server.

Invariant: a UID is plain text; an internal IRI and an address have it percent-encoded in the same way, the one of the
server, so that an IRI that is made here equals the one in its answers.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from rdflib import URIRef

from cenote.lakesuperior.exceptions import InvalidResourceError

#: What internal IRIs begin with.
INTERNAL = 'info:fcres'
#: Where resources are on the server, in the words of LAKEsuperior.
MOUNT = '/ldp'
#: What a name in an IRI may have besides letters, digits and ``-._~``.
SAFE = "!$&'()*+,;=:@"


def path_of(uid: str) -> str:
    """The path of a resource on the server, without the mount point.

    Raises:
        InvalidResourceError: It is not a UID, or the server keeps a name in it for itself.
    """
    path = _encoded_path(uid)
    if '/fcr:' in path:
        hint = 'names that begin with fcr: are those of the server: versions have calls of their own'
        raise InvalidResourceError(uid, f'{uid!r} is not the UID of a resource.', hint=hint)
    return path


def internal(uid: str) -> URIRef:
    """The internal IRI of a resource, or of a version of it."""
    return URIRef(INTERNAL + _encoded_path(uid))


def _encoded_path(uid: str) -> str:
    plain = uid_of(uid)
    names = plain.split('/')[1:]
    if not plain.startswith('/') or (plain != '/' and not all(map(_is_name, names))):
        hint = "a UID is a slash, or a slash before each name, such as '/maps/1'"
        raise InvalidResourceError(uid, f'{uid!r} is not a UID.', hint=hint)
    return '/' + '/'.join(quote(name, safe=SAFE) for name in names)


def _is_name(name: str) -> bool:
    try:
        return name not in ('', '.', '..') and '\0' not in name and bool(name.encode())
    except UnicodeEncodeError:
        return False


def is_internal(iri: str) -> bool:
    """Whether an IRI is that of a resource of the repository."""
    return iri.startswith(INTERNAL) and iri[len(INTERNAL) :][:1] in ('', '/', '#')


def uid_of(uid: str) -> str:
    """The UID of a resource, given as that or as its internal IRI, without a slash at the end."""
    if is_internal(uid):
        uid = unquote(uid[len(INTERNAL) :].partition('#')[0]) or '/'
    return uid if uid == '' else uid.rstrip('/') or '/'


def encoded(iri: str) -> str:
    """An internal IRI with everything encoded that the server encodes; what is so already stays so."""
    try:
        return re.sub(r'%(?![0-9A-Fa-f]{2})', '%25', quote(iri, safe=SAFE + '/#%'))
    except UnicodeEncodeError:
        raise InvalidResourceError(iri, f'{iri!r} is not the IRI of a resource.') from None


def reference(iri: str) -> str:
    """An internal IRI as it is sent: relative to the server, whatever name that has for itself."""
    return MOUNT + encoded(iri)[len(INTERNAL) :]


class Addresses:
    """The IRIs in answers of a server."""

    def __init__(self, authority: str) -> None:
        # A server behind a proxy does not know that it is reached by https.
        self._pattern = re.compile(f'https?://{re.escape(authority)}{MOUNT}(?=[/#]|$)')

    def internal(self, iri: str) -> str:
        """The internal IRI for an address of a resource; any other IRI as it is."""
        return self._pattern.sub(INTERNAL, iri, count=1) if self._pattern.match(iri) else iri
