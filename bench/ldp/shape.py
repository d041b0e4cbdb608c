"""The graphs of the published benchmark of LAKEsuperior (its util/benchmark.py, `-s 200`)."""

import random

#: The ranges of characters from which literals are drawn, those that Turtle escapes left out.
RANGES = [
    (0x21, 0x21),
    (0x23, 0x26),
    (0x28, 0x5B),
    (0x5D, 0x7E),
    (0xA1, 0xAC),
    (0xAE, 0xFF),
    (0x100, 0x17F),
    (0x180, 0x24F),
    (0x2C60, 0x2C7F),
    (0x16A0, 0x16F0),
    (0x370, 0x377),
]
CHARACTERS = [chr(code) for first, last in RANGES for code in range(first, last + 1)]


def literal(rng):
    return ''.join(rng.choices(CHARACTERS, k=64))


def graph(rng, ref, triples=200):
    """Turtle with this many triples about `<>`: a quarter links to `ref`, a quarter to five foreign addresses, half literals."""
    lines = []
    for i in range(triples // 4):
        lines += [
            f'<urn:inturi_p:u{i}> <{ref}>',
            f'<urn:exturi_p:u{i}> <http://example.edu/res/{i // 10}>',
            f'<urn:lit_p:l{i}> "{literal(rng)}"',
            f'<urn:lit_p:l{i + 200}> "{literal(rng)}"',
        ]
    return ('<> ' + ' ;\n'.join(lines) + ' .').encode()
