"""The version of the package ``gsd`` whose interface this is."""

version = '5.0.1'

__all__ = ['version']
