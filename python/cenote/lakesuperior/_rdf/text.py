"""Internal IRIs in texts that are sent as they are: Turtle, and SPARQL.

Only IRIs are replaced, not the same characters in strings and comments; everything else stays as it was written.
"""

from __future__ import annotations

import re

from cenote.lakesuperior._rdf.names import INTERNAL, is_internal, reference

#: What can contain the characters of an IRI, and an IRI. The two languages have the same tokens.
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""'
    r"|'''(?:[^'\\]|\\.|'(?!''))*'''"
    r'|"(?:[^"\\\n\r]|\\.)*"'
    r"|'(?:[^'\\\n\r]|\\.)*'"
    r'|<([^<>"{}|^`\\\x00-\x20]*)>'
    r'|#[^\n\r]*'
    r'|\\.',
    re.DOTALL,
)
_BASE = re.compile(r'\bbase\b', re.IGNORECASE)


def addressed(text: str, origin: str) -> str:
    """The text with internal IRIs as references to the server.

    They are relative, so that the server may have any name for itself; if the text has a base of its own, that of ``origin`` is used.
    """
    if INTERNAL not in text:
        return text
    before = origin if _BASE.search(text) else ''

    def token(found: re.Match[str]) -> str:
        iri = found[1]
        return f'<{before}{reference(iri)}>' if iri and is_internal(iri) else found[0]

    return _TOKEN.sub(token, text)
