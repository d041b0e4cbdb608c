"""Requests to a server of linked data.

They are made here and not by the native client, since streams and files of Python are their bodies, and what answers say is
in their headers. Where the store is and who the caller is, the native part decides, as for :func:`cenote.connect`.

* ``server``: the connections, and when a request is sent again.
* ``response``: an answer, read at once or bit by bit.
* ``content``: bytes of a resource as a file that is open for reading.
* ``refusals``: answers that refuse something, as exceptions.
"""
