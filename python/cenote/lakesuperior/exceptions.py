"""Why a call failed: the exceptions of LAKEsuperior, by its names and with its attributes.

What LAKEsuperior has no exception for is one of :mod:`cenote.store`: a login that is wrong
(:class:`~cenote.store.UnauthenticatedError`), a missing right, a full disk, a server that cannot be
reached.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    'ChecksumValidationError', 'IncompatibleLdpTypeError', 'IndigestibleError', 'InvalidResourceError',
    'InvalidTripleError', 'RdfParsingError', 'RefIntViolationError', 'ResourceError', 'ResourceExistsError',
    'ResourceNotExistsError', 'ServerManagedTermError', 'TombstoneError',
]


class ResourceError(RuntimeError):
    """A call about a resource that failed.

    Attributes:
        uid: The resource.
        msg: Why, as the server says it, or ``None``.
        hint: What to do next, in a sentence, or ``None``.
    """

    #: The text where the server gives none.
    _text = 'Resource {} cannot be used like this.'

    def __init__(self, uid: str, msg: str | None = None, *, hint: str | None = None) -> None:
        super().__init__(uid, msg)
        self.uid, self.msg, self.hint = uid, msg, hint

    def __str__(self) -> str:
        return _with_hint(self.msg or self._text.format(self.uid), self.hint)


class ResourceExistsError(ResourceError):
    """The UID is taken."""

    _text = 'Resource {} already exists.'


class ResourceNotExistsError(ResourceError):
    """Nothing is there, or the caller may not see it."""

    _text = 'Resource {} not found.'


class InvalidResourceError(ResourceError):
    """The UID is invalid, or the call is not possible for a resource of this kind."""

    _text = 'Resource {} is invalid.'


class IncompatibleLdpTypeError(ResourceError):
    """A graph would replace bytes, or bytes a graph.

    Attributes:
        mimetype: The media type that was given, or ``None``.
    """

    def __init__(
        self, uid: str, mimetype: str | None = None, msg: str | None = None, *, hint: str | None = None
    ) -> None:
        super().__init__(uid, msg, hint=hint)
        self.mimetype = mimetype

    def __str__(self) -> str:
        text = self.msg or f'Invalid content type {self.mimetype!r} for resource {self.uid}.'
        return _with_hint(text, self.hint)


class ChecksumValidationError(ResourceError):
    """Bytes differ from their digest.

    Attributes:
        prov_cksum: The digest that was given, or that is kept.
        calc_cksum: The digest of the bytes, or ``None`` where the server does not say it.
    """

    def __init__(
        self,
        uid: str,
        prov_cksum: str | None = None,
        calc_cksum: str | None = None,
        msg: str | None = None,
        *,
        hint: str | None = None,
    ) -> None:
        super().__init__(uid, msg, hint=hint)
        self.prov_cksum, self.calc_cksum = prov_cksum, calc_cksum

    _text = 'The bytes of resource {} differ from their checksum.'


class IndigestibleError(ResourceError):
    """The server does not know this digest."""

    _text = 'The digest for resource {} is not supported.'


class TombstoneError(RuntimeError):
    """The resource was removed, and can be resurrected.

    Attributes:
        uid: The resource that has the tombstone: this one, or one above it that was removed with it.
        ts: When it was removed, or ``None`` where the server does not say it.
        hint: What to do next, in a sentence.
    """

    def __init__(self, uid: str, ts: str | None = None) -> None:
        super().__init__(uid, ts)
        self.uid, self.ts = uid, ts
        self.hint = f'resource.resurrect({uid!r}) brings it back, resource.delete({uid!r}, soft=False) forgets it'

    def __str__(self) -> str:
        departed = f', departed: {self.ts}' if self.ts else ''
        return _with_hint(f'Discovered tombstone resource at {self.uid}{departed}', self.hint)


class ServerManagedTermError(RuntimeError):
    """A triple would be changed that the server manages.

    Attributes:
        terms: The terms that it manages.
        term_name: What they are: ``predicate``, ``RDF type`` or ``term``.
        hint: What to do next, in a sentence.
    """

    _NAMES = {'s': 'subject', 'p': 'predicate', 't': 'RDF type'}

    def __init__(self, terms: Iterable[str], term_type: str | None = None) -> None:
        self.terms = set(terms)
        super().__init__(self.terms, term_type)
        self.term_name = self._NAMES.get(term_type or '', 'term')
        self.hint = "leave them out, or pass handling='lenient' to have them ignored"

    def __str__(self) -> str:
        terms = ' , '.join(sorted(self.terms))
        text = f'Some {self.term_name}s are server managed and cannot be modified: {terms}'
        return _with_hint(text, self.hint)


class RdfParsingError(ValueError):
    """Text is not RDF in its format.

    Attributes:
        fmt: The format.
        parser_msg: What is wrong, and where.
    """

    def __init__(self, fmt: str | None, parser_msg: str = '') -> None:
        super().__init__(fmt, parser_msg)
        self.fmt, self.parser_msg = fmt, parser_msg

    def __str__(self) -> str:
        return f'Error parsing RDF in {self.fmt} format: {self.parser_msg}'


class InvalidTripleError(ValueError):
    """A term or a triple cannot be sent.

    Attributes:
        t: The term or triple.
        hint: Why, or what to do next, in a sentence, or ``None``.
    """

    def __init__(self, t: object, *, hint: str | None = None) -> None:
        super().__init__(t)
        self.t, self.hint = t, hint

    def __str__(self) -> str:
        return _with_hint(f'{self.t!r} is not a valid triple.', self.hint)


class RefIntViolationError(RuntimeError):
    """A link leads to a missing resource, where the collection refuses those.

    Attributes:
        o: The missing resource, or what the server says about it.
    """

    def __init__(self, o: str) -> None:
        super().__init__(o)
        self.o = o

    def __str__(self) -> str:
        return f'Resource {self.o} does not exist in repository, and links to missing resources are refused here.'


def _with_hint(text: str, hint: str | None) -> str:
    return f'{text}\n  hint: {hint}' if hint else text
