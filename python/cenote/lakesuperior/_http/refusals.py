"""Answers that refuse something, as exceptions: the one place that knows which is which."""

from __future__ import annotations

import errno
import json
import re
from dataclasses import dataclass

from cenote.lakesuperior._http.response import Response
from cenote.lakesuperior.exceptions import (
    ChecksumValidationError,
    IncompatibleLdpTypeError,
    IndigestibleError,
    InvalidResourceError,
    RdfParsingError,
    RefIntViolationError,
    ResourceExistsError,
    ResourceNotExistsError,
    ServerManagedTermError,
    TombstoneError,
)
from cenote.store.errors import Error, of_kind

ANONYMOUS = 'you are not logged in there: use `cenote login`, or pass token=, or user= and password='
_REMOVED = re.compile(r'it was removed(?: with)?:? (?P<uid>/.*?)(?:, at (?P<ts>\S+)|, which has the tombstone)', re.DOTALL)
_MANAGED = re.compile(r'<(?P<p>[^<>]*)> (?:<(?P<o>[^<>]*)>|"[^\n]*|_:\S+)\s*\Z')
_TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
_CONSTRAINED = 'http://www.w3.org/ns/ldp#constrainedBy'
#: What a status is in the words of the store, where the answer does not say it.
_KINDS = {
    401: 'unauthenticated', 403: 'denied', 406: 'invalid', 409: 'conflict', 412: 'precondition', 413: 'too-large',
    429: 'unavailable', 503: 'unavailable', 507: 'no-space',
}


@dataclass(frozen=True)
class Request:
    """What an exception says about the request."""

    uid: str
    #: The media type of the body, if there is one.
    mimetype: str | None = None
    #: The format of the graph that was sent.
    rdf_fmt: str | None = None
    #: The digest that was sent.
    digest: str | None = None
    is_anonymous: bool = False


@dataclass(frozen=True)
class _Refusal:
    """An answer, read."""

    status: int
    detail: str
    #: The kind of the failure in a word, if the answer has one.
    kind: str | None
    hint: str | None
    request_id: str | None
    is_constrained: bool

    @classmethod
    def of(cls, response: Response) -> _Refusal:
        text = response.text().strip()
        is_problem = 'json' in response.header('Content-Type') and text
        said: dict[str, str] = json.loads(text) if is_problem else {}
        kind = said.get('type', '').rpartition(':')[2] or None
        return cls(
            response.status,
            said.get('detail') or text or f'the server answered {response.status}',
            kind,
            said.get('hint'),
            said.get('request_id') or response.header('X-Request-Id') or None,
            any(_CONSTRAINED in link for link in response.headers('Link')),
        )


def refused(response: Response, request: Request) -> Exception:
    """The exception for an answer whose status is 400 or above."""
    refusal = _Refusal.of(response)
    handler = _BY_STATUS.get(refusal.status)
    found = handler(refusal, request) if handler and refusal.kind is None else None
    return found or _of_store(refusal, request)


def _of_store(refusal: _Refusal, request: Request) -> Error:
    kind = refusal.kind or _KINDS.get(refusal.status, 'invalid' if refusal.status < 500 else 'unknown')
    if kind == 'not-acceptable':
        kind = 'invalid'
    hints = [refusal.hint, ANONYMOUS if request.is_anonymous and refusal.status in (401, 403) else None]
    hint = '; '.join(hint for hint in hints if hint) or None
    return of_kind(kind, refusal.detail, hint, refusal.request_id, errno.EIO)


def _missing(refusal: _Refusal, request: Request) -> Exception:
    hint = ANONYMOUS if request.is_anonymous else None
    return ResourceNotExistsError(request.uid, refusal.detail, hint=hint)


def _gone(refusal: _Refusal, request: Request) -> Exception:
    found = _REMOVED.match(refusal.detail)
    return TombstoneError(found['uid'], found['ts']) if found else TombstoneError(request.uid)


def _bad(refusal: _Refusal, request: Request) -> Exception:
    if request.digest and 'digest' in refusal.detail.lower():
        return IndigestibleError(request.uid, refusal.detail)
    if request.rdf_fmt and refusal.detail.startswith('the body is not valid'):
        return RdfParsingError(request.rdf_fmt, refusal.detail)
    return InvalidResourceError(request.uid, refusal.detail, hint=refusal.hint)


def _conflict(refusal: _Refusal, request: Request) -> Exception | None:
    detail = refusal.detail
    if request.digest and ('differs' in detail or 'digest' in detail):
        return ChecksumValidationError(request.uid, request.digest, msg=detail)
    if refusal.is_constrained:
        return RefIntViolationError(detail)
    if 'already' in detail:
        return ResourceExistsError(request.uid, detail)
    return InvalidResourceError(request.uid, detail) if 'cannot contain' in detail else None


def _other_type(refusal: _Refusal, request: Request) -> Exception:
    if request.mimetype is None:
        return InvalidResourceError(request.uid, refusal.detail)
    return IncompatibleLdpTypeError(request.uid, request.mimetype, refusal.detail)


def _managed(refusal: _Refusal, request: Request) -> Exception | None:
    found = _MANAGED.search(refusal.detail) if refusal.is_constrained else None
    if found is None:
        return ServerManagedTermError([refusal.detail]) if refusal.is_constrained else None
    is_type = found['p'] == _TYPE and found['o'] is not None
    return ServerManagedTermError([found['o'] if is_type else found['p']], 't' if is_type else 'p')


def _no_method(refusal: _Refusal, request: Request) -> Exception:
    return InvalidResourceError(request.uid, f'{request.uid}: {refusal.detail}', hint=refusal.hint)


_BY_STATUS = {
    400: _bad, 404: _missing, 405: _no_method, 409: _conflict, 410: _gone, 412: _managed, 415: _other_type,
}
