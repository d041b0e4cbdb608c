"""What LAKEsuperior has for administrators."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rdflib import BNode, URIRef

from cenote.lakesuperior import _migration
from cenote.lakesuperior._http.refusals import Request
from cenote.lakesuperior._http.response import Response
from cenote.lakesuperior._rdf.names import path_of
from cenote.lakesuperior._rdf.terms import Triple
from cenote.lakesuperior._requests import Requests
from cenote.lakesuperior.exceptions import (
    ChecksumValidationError,
    IncompatibleLdpTypeError,
    ResourceNotExistsError,
)
from cenote.store.errors import DamagedError

if TYPE_CHECKING:
    from cenote._cenote import store as _native

#: What is counted, and in which part of the statistics LAKEsuperior has it.
_COUNTS = {'resources': ('rsrc_stats', 'main'), 'bytes': ('nonrdf_stats', 'size')}


class Administration:
    """The calls for administrators of a repository."""

    _connection: _native.Connection
    _requests: Requests

    def stats(self) -> dict[str, dict[str, Any]]:
        """Counts of the whole store: of resources (``rsrc_stats``), bytes (``nonrdf_stats``), and others.

        They are ``None`` for callers who are no administrators.
        """
        found = json.loads(self._requests.send('GET', '/admin/stats', {'Accept': 'application/json'}).all())
        stats: dict[str, dict[str, Any]] = {'rsrc_stats': {}, 'store_stats': {}, 'nonrdf_stats': {}}
        for name, value in found.items():
            part, key = _COUNTS.get(name, ('store_stats', name))
            stats[part][key] = value
        return stats

    def integrity_check(self) -> set[tuple[Triple, str]]:
        """Links to missing resources: each triple, and which of its terms is missing (``'o'``).

        Raises:
            DeniedError: The caller is no administrator.
        """
        response = self._requests.send('GET', '/admin/references')
        found: set[tuple[Triple, str]] = set()
        rows = csv.reader(_lines(response), strict=True)
        next(rows, None)
        for s, p, o, missing in rows:
            found.add(((self._node(s), URIRef(p), self._node(o)), missing))
        return found

    def fixity_check(self, uid: str) -> None:
        """Compare the bytes of a resource with their checksum.

        Raises:
            ChecksumValidationError: They differ, in all copies.
            IncompatibleLdpTypeError: The resource has no bytes.
        """
        try:
            answer = self._requests.send('GET', f'/admin{path_of(uid)}/fixity', about=Request(uid))
            checked = json.loads(answer.all())
        except ResourceNotExistsError:
            # The answer is the same for a resource without bytes; this one fails if there is none.
            self._requests.ask('GET', uid, headers={'Accept': 'application/n-triples'}).close()
            raise IncompatibleLdpTypeError(uid, None, f'Resource {uid} has no bytes that could be checked.') from None
        except DamagedError as error:
            raise ChecksumValidationError(uid, msg=error.strerror, hint=error.hint) from error
        if not checked['pass']:
            raise ChecksumValidationError(uid)

    def migrate(
        self,
        src: str,
        dest: str = '/',
        start_pts: str | list[str] | tuple[str, ...] | None = None,
        list_file: str | None = None,
        *,
        src_auth: tuple[str | None, str | None] = (None, None),
    ) -> int:
        """Copy a repository of LAKEsuperior, Fedora or any other LDP server into this one.

        It runs the program ``cenote migrate-fedora``, which must be on the ``PATH`` or named by
        ``CENOTE_PROGRAM``. Called again, it continues, and copies only what changed.

        Args:
            src: The address of the repository, such as ``http://localhost:8000/ldp``.
            dest: The container that it is copied to, under the same UIDs.
            start_pts: The containers to copy, as UIDs at the source; all by default.
            list_file: A file with the addresses of the containers to copy, instead, one a line.
            src_auth: A user and password at the source.

        Returns:
            The number of resources that were compared with the source in the end.

        Raises:
            TransferError: Some could not be copied, or differ.
        """
        starts = _migration.starts(src, start_pts, list_file)
        return _migration.run(self._connection, src.rstrip('/'), path_of(dest), starts, src_auth)

    def _node(self, name: str) -> URIRef | BNode:
        return BNode(name[2:]) if name.startswith('_:') else URIRef(self._requests.internal(name))


def _lines(response: Response) -> Iterator[str]:
    """The lines of a text, as they arrive."""
    rest = b''
    for piece in iter(lambda: response.read(1 << 16), b''):
        *lines, rest = (rest + piece).split(b'\n')
        yield from (line.decode() + '\n' for line in lines)
    if rest:
        yield rest.decode()
